// A provider of promptfoo that gives the recorded response to the very same request.
const { createHash } = require('node:crypto');
const { recorded, today } = require(process.cwd() + '/calls.json');

module.exports = class {
  id() {
    return 'recorded';
  }

  async callApi(prompt) {
    const said = JSON.parse(prompt).map(({ role, content }) => ({ role, content }));
    const key = JSON.stringify([today.model, today.parameters, said]);
    const output = recorded[createHash('sha256').update(key).digest('hex')];
    return output === undefined ? { error: 'no recorded response' } : { output };
  }
};
