// Today's prompt before the messages of the recorded conversation.
const { today } = require(process.cwd() + '/calls.json');

module.exports = async ({ vars }) =>
  JSON.stringify([
    { role: 'system', content: today.prompts[vars.step] },
    ...JSON.parse(vars.messages),
  ]);
