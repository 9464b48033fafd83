// A program of Node that asks a model by `fetch`, and prints what it is told.
const post = (words, more = {}) =>
  fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "large-1", messages: [{ role: "user", content: words }], ...more }),
  });
const content = async (answer) => (await answer.json()).choices[0].message.content;

const plain = [await content(await post("What is a log?")), await content(await post("What is a log?"))];
const crowd = await Promise.all([...Array(16).keys()].map(async (n) => content(await post(`crowd ${n}`))));
let text = "";
const decoder = new TextDecoder();
for await (const piece of (await post("Stream it: grüß Gott", { stream: true })).body)
  text += decoder.decode(piece, { stream: true });
const stream = text
  .split("\n\n")
  .filter((event) => event.startsWith("data: {"))
  .map((event) => JSON.parse(event.slice(6)).choices[0].delta.content)
  .join("");
console.log(JSON.stringify({ plain, crowd, stream }));
