// Compares an exported page with its events, by verify.js. Files of proof call `proof`: `site.js` with what all pages share, each
// other one with a session. What is shown of an event stands in `data-said="VERSION"`, within `data-session="ID"`.
"use strict";

const proofs = new Map(); // by session
let site;
const proof = (found) => { if (found.session) proofs.set(found.session.session_id, found); else site = found; };

// Payloads as pages show them: unseen characters as escapes, white space as one blank.
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ud800-\udfff\u{e0000}-\u{e007f}]/gu;
const escaped = (one) => {
  const code = one.codePointAt(0);
  const [letter, size] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(size, "0")}`;
};
const oneLine = (said) => said.replace(/(?:[^\S\ufeff]|[\x1c-\x1f\x85])+/g, " ").trim();
function leaves(value, found = new Set()) {
  if (value !== null && typeof value === "object") Object.values(value).forEach((one) => leaves(one, found));
  else for (const one of [`${value}`, oneLine(`${value}`)]) found.add(oneLine(one.replaceAll("\r\n", "\n").replace(UNSEEN, escaped)));
  return found;
}
// What a page shows of a session, and what of it is not in the event that it names, or in any without a version. An ellipsis ends
// what was shortened. `data-digest` names the event with a document's digest; what is `data-decided` stands in what was signed, too.
async function shown({ session, events }, page) {
  const own = (marks) => [...page.querySelectorAll(marks)].filter((one) => one.closest("[data-session]").dataset.session === session.session_id);
  const said = events.map((one) => (one.data === null ? new Set() : leaves(JSON.parse(one.data)).add(oneLine(one.data.replace(UNSEEN, escaped)))));
  said.push(new Set(said.flatMap((one) => [...one])));
  const [texts, documents] = [own("[data-said]"), own("[data-digest]")];
  const signed = events.flatMap((one) => (one.act && one.data && JSON.parse(one.data).signature) || []).map((one) => leaves(JSON.parse(one.proposal)));
  const wrong = texts.filter((one) => {
    const [known, text] = [said.at((one.dataset.said || 0) - 1) ?? new Set(), oneLine(one.textContent)];
    const has = (all) => all.has(text) || (text.endsWith("…") && [...all].some((whole) => whole.startsWith(text.slice(0, -1).trim())));
    return !has(known) || ("decided" in one.dataset && signed.length > 0 && !signed.some(has));
  });
  for (const one of documents) {
    const found = preflights.hex(await preflights.digest(preflights.utf8(one.textContent)));
    if (!said[one.dataset.digest - 1]?.has(found)) wrong.push(one);
  }
  return [texts.length + documents.length, wrong];
}

function verdict(what, found) {
  const state = { signed: "good", does_not_verify: "bad" }[found.verdict] ?? "doubt";
  const said = found.verdict === "signed" ? `signed by ${found.by}` : `${found.verdict.replaceAll("_", " ")}, ${found.why}`;
  return [state, `${what}: ${said}${found.key && ` (${found.key}${found.isTouched ? ", hardware key" : ""})`}`];
}

const STATES = { bad: "does not hold", doubt: "not proven", good: "holds" };
const FOLDER = "a browser lets no page of a folder read it. Serve the folder";
const isFolder = location.protocol === "file:";
const titled = (id) => {
  const title = document.querySelector(`[data-session="${id}"] :is(.title, th a)`) ?? document.querySelector("h1");
  return `“${title.firstChild.textContent.trim()}”`;
};

// What is found of a session, as pairs of state and finding; its own pages are read where this page is a list.
async function session(id, place, sum) {
  const [lines, known, name] = [[], proofs.get(id), titled(id)];
  const bad = (said) => lines.push(["bad", `${name}${said}`]);
  if (!known) { bad(": its proof is not here"); return lines; }
  const { events, payloads, trouble } = await preflights.chain(known);
  if (trouble) { bad(`, event ${trouble.version}: ${trouble.why}`); return lines; }
  const compare = async (page, where) => {
    const [texts, wrong] = await shown(known, page);
    for (const one of wrong) {
      one.classList.add("differs");
      bad(`: event ${one.dataset.said ?? one.dataset.digest} does not say what ${where} shows: ${one.textContent.trim().slice(0, 80)}`);
    }
    sum.texts += texts - wrong.length;
  };
  await compare(document, "this page");
  for (const path of "asks" in place.dataset && !isFolder ? Object.keys(known.pages) : []) {
    const answer = await fetch(place.dataset.root + path, { cache: "no-store" }); // as it is now, not as a visit before saw it
    const bytes = await answer.arrayBuffer();
    if (!answer.ok || preflights.hex(await preflights.digest(bytes)) !== known.pages[path]) bad(`: its page ${path} was changed after the export`);
    else await compare(new DOMParser().parseFromString(new TextDecoder().decode(bytes), "text/html"), path);
  }
  const acts = known.events.filter((one) => one.act && one.data);
  if (!acts[0]) lines.push(["doubt", `${name}: no acceptance`]);
  for (const one of acts) {
    const found = await preflights.act(known, one, preflights.signersIn(site.signers), site.repository);
    if (found) lines.push(verdict(`${name}, ${one.act}`, found));
    sum.signed += found?.verdict === "signed";
  }
  sum.events += events; sum.payloads += payloads;
  return lines;
}

async function sessions(ids, place) {
  const [lines, sum] = [[], { events: 0, payloads: 0, texts: 0, signed: 0, broken: 0 }];
  for (const id of ids) {
    const found = await session(id, place, sum);
    sum.broken += found.some(([state]) => state === "bad");
    lines.push(...found);
  }
  if (sum.events) lines.unshift(["good", `The chain of ${sum.events} events: ${sum.payloads} with their texts, the others by their digests alone. ${sum.texts} texts of ${"asks" in place.dataset && !isFolder ? "these pages" : "this page"} stand in them.`]);
  if (!("asks" in place.dataset)) return lines;
  if (isFolder) lines.unshift(["doubt", `The pages of these decisions: ${FOLDER}`]);
  const held = ids.size - sum.broken;
  return [[sum.broken ? "bad" : "good", `${held} ${held === 1 ? "decision holds" : "decisions hold"}, ${sum.signed} signed, ${sum.broken} broken`], ...lines];
}

async function file(page) {
  if (isFolder) return ["doubt", `The file of this page: ${FOLDER}`];
  const path = decodeURI(location.pathname);
  if (!["", ".html", "index.html"].some((end) => `${path}${end}`.endsWith(`/${page}`))) return ["bad", "The file of this page has another name than at its export"];
  const found = await preflights.digest(await (await fetch(location.pathname)).arrayBuffer());
  const expected = site.pages[page] ?? [...proofs.values()].map((one) => one.pages[page]).find(Boolean);
  return preflights.hex(found) === expected ? ["good", "The file of this page is as it was exported"] : ["bad", "The file of this page was changed after the export"];
}

const loaded = (path) => new Promise((done) => {
  document.head.append(Object.assign(document.createElement("script"), { onload: done, onerror: done, src: path }));
});

async function checked(place) {
  const ids = new Set([...document.querySelectorAll("[data-session]")].map((one) => one.dataset.session));
  let found = [["doubt", "Nothing was checked: this takes https, localhost or a folder"]];
  try {
    if (crypto.subtle) {
      for (const id of ids) if (!proofs.has(id) && /^[0-9a-f-]{36}$/.test(id)) await loaded(`${place.dataset.root}proof/${id}.js`);
      found = await sessions(ids, place);
      found.splice("asks" in place.dataset ? 1 : 0, 0, await file(place.dataset.page));
    }
  } catch (error) {
    found = [["bad", `The proof cannot be read (${error.message})`]];
  }
  place.querySelector("ul").replaceChildren(...found.map(([state, said]) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("span"), { className: `badge ${state}`, textContent: STATES[state] }), ` ${said}`);
    return item;
  }));
  place.dataset.verdict = Object.keys(STATES).find((state) => found.some(([one]) => one === state));
  document.getElementById("broken")?.remove();
  if (place.dataset.verdict !== "bad") return;
  const top = Object.assign(document.createElement("p"), { id: "broken", className: "notice bad", role: "alert" });
  const more = Object.assign(document.createElement("a"), { href: "#proof", textContent: "What does not hold" });
  top.append("This page does not hold: it, or what it tells of, was changed. ", more);
  document.querySelector("main").prepend(top);
  for (const one of document.querySelectorAll(".badge.good")) one.classList.remove("good"); // nothing here is proven
}

addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("proof");
  const button = place.querySelector("button");
  button.hidden = false;
  button.onclick = () => checked(place);
  if (!("asks" in place.dataset)) checked(place);
});
