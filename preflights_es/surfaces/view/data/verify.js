// Verifies chains of events and signatures of acts, by SubtleCrypto: docs/specs/log.md, PROTOCOL.sshsig and
// PROTOCOL.u2f of OpenSSH. A session is `{session: {session_id, project, workflow}, events: [...]}`: lines of a session file, but
// for `data`, the payload as text, and `recorded_at`, in digits.
"use strict";

const preflights = (() => {
// 1. Bytes ----
class Bad extends Error {} // says why something does not verify

const utf8 = (text) => new TextEncoder().encode(text);
const joined = (...parts) => {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) { bytes.set(part, at); at += part.length; }
  return bytes;
};
const u32 = (value) => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
const large = (set, wrapped) => (value) => {
  const bytes = new Uint8Array(8);
  if (String(wrapped(64, BigInt(value))) !== String(value)) throw new Bad(`${value} is no number of 64 bits`);
  new DataView(bytes.buffer)[set](0, BigInt(value));
  return bytes;
};
const [u64, i64] = [large("setBigUint64", BigInt.asUintN), large("setBigInt64", BigInt.asIntN)];
const field = (bytes) => joined(u32(bytes.length), bytes);
const text = (value) => (value === null ? u32(0xffffffff) : field(utf8(value)));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (digits, size) => {
  if (!/^[0-9a-f]*$/.test(digits) || digits.length !== 2 * size) throw new Bad(`expected ${size} bytes in hexadecimal`);
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
};
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
const unbase64 = (letters) => {
  const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  if (base64(bytes) !== letters) throw new Bad("its base64 is written in another way");
  return bytes;
};
const digest = async (bytes, name = "SHA-256") => new Uint8Array(await crypto.subtle.digest(name, bytes));
const isSame = (one, other) => hex(one) === hex(other);
const reason = (error) => (error instanceof Bad ? error.message : `it cannot be read (${error.message})`);

const GENESIS = new Uint8Array(32);

// 2. The chain (log.md, section 5) ----
// How many events there are, with payloads, and which does not follow.
async function chain({ session, events }) {
  const [id, project, workflow] = [session.session_id, session.project, session.workflow].map(text);
  let previous = GENESIS;
  let payloads = 0;
  for (const [at, event] of events.entries()) {
    try {
      if (event.version !== at + 1) throw new Bad(`missing: the next one is ${event.version}`);
      const sum = unhex(event.digest, 32);
      if (event.data !== null) {
        if (!isSame(await digest(joined(unhex(event.salt, 16), utf8(event.data))), sum)) throw new Bad("its payload was changed");
        payloads += 1;
      } else if (event.salt !== null) throw new Bad("its salt has no payload");
      previous = await digest(joined(
        previous, text("preflights.event/1"), id, project, workflow, u64(event.version), text(event.type),
        i64(event.recorded_at), text(event.input_id), text(event.actor_kind), text(event.decider), sum));
      if (!isSame(previous, unhex(event.hash, 32))) throw new Bad("its hash does not follow from the one before");
    } catch (error) {
      return { events: at, payloads, trouble: { version: at + 1, why: reason(error) } };
    }
  }
  return { events: events.length, payloads, trouble: null };
}

// 3. Signatures ----
function reader(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const take = (size) => {
    if (at + size > bytes.length) throw new Bad("it is cut off");
    at += size;
    return bytes.slice(at - size, at);
  };
  const u32 = () => { take(4); return view.getUint32(at - 4); };
  const end = () => { if (at < bytes.length) throw new Bad("it goes on behind its end"); };
  return { take, u32, end, field: () => take(u32()), name: () => String.fromCharCode(...take(u32()).slice(0, 99)) };
}

const OPTION = /^(?:(cert-authority)|(namespaces|valid-after|valid-before)="((?:\\.|[^"\\])*)")(?:,(?=.)|$)/i;
// Lines of allowed signers (ssh-keygen(1)).
function signersIn(file) {
  const found = [];
  for (const line of file.split("\n")) {
    const words = line.match(/(?:[^ \t\r"]|"(?:\\.|[^"\\])*")+/g) ?? [];
    if (words.length < 3 || words[0].startsWith("#")) continue;
    let options = /^(sk-)?(ssh|ecdsa)-/.test(words[1]) ? "" : words[1];
    const signer = { by: words[0].replace(/^"|"$/g, ""), key: words[options ? 3 : 2] };
    for (let one; (one = OPTION.exec(options)); options = options.slice(one[0].length)) signer[(one[1] ?? one[2]).toLowerCase()] = one[3] ?? "";
    if (!options) found.push(signer); // else one is unknown
  }
  return found;
}
// In seconds; `20261126` or `20261126143000` by the reader's clock, or UTC with a Z.
function seconds(said) {
  const parts = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/.exec(said);
  if (!parts) throw new Bad(`${said} is no time`);
  const [year, month, ...rest] = parts.slice(1, 7).map((one) => Number(one ?? 0));
  return (parts[7] ? Date.UTC(year, month - 1, ...rest) : new Date(year, month - 1, ...rest).getTime()) / 1000;
}
const fits = (pattern, name) => new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*+/g, ".*").replaceAll("?", ".")}$`).test(name);
// Why a line does not cover a signature; empty where it does.
function against(signer, namespace, second) {
  const spaces = signer.namespaces?.split(",") ?? ["*"];
  if ("cert-authority" in signer) return "the key may sign certificates only";
  if (spaces.some((one) => one[0] === "!" && fits(one.slice(1), namespace)) || !spaces.some((one) => fits(one, namespace))) return "the key may not sign this";
  if (signer["valid-after"] && second < seconds(signer["valid-after"])) return "the key's time had not begun";
  return signer["valid-before"] && second > seconds(signer["valid-before"]) ? "the key's time was over" : "";
}

const [PLAIN, HARDWARE] = ["ssh-ed25519", "sk-ssh-ed25519@openssh.com"];
const HASHES = { sha256: "SHA-256", sha512: "SHA-512" };
const TOUCHED = 1; // the flag that says that a person touched a hardware key
const FAILED = { verdict: "does_not_verify", by: "", key: "", isTouched: false, why: "" };

// Verdicts: `signed`, `unknown_signer`, `does_not_verify`, `not_checked`. `at` is in microseconds.
async function signature(namespace, message, sshsig, signers, at) {
  const found = { ...FAILED };
  try {
    const blob = reader(sshsig);
    if (hex(blob.take(6)) !== hex(utf8("SSHSIG")) || blob.u32() !== 1) throw new Bad("it is no signature of OpenSSH");
    const [key, space, reserved, hash, made] = Array.from({ length: 5 }, blob.field);
    blob.end();
    found.key = `SHA256:${base64(await digest(key)).replace(/=+$/, "")}`;
    if (!isSame(space, utf8(namespace))) throw new Bad(`it was not made for ${namespace}`);
    const [point, mark] = [reader(key), reader(made)];
    const kind = point.name();
    if (kind.includes("-cert-")) found.key = ""; // it is named by the key that it is of
    if (kind !== PLAIN && kind !== HARDWARE) return { ...found, verdict: "not_checked", why: `keys of the kind ${kind} are not checked here` };
    const algorithm = HASHES[String.fromCharCode(...hash)];
    if (mark.name() !== kind || !algorithm) throw new Bad("its key is of another kind");
    const [bare, sixtyFour] = [point.field(), mark.field()];
    let signed = joined(utf8("SSHSIG"), field(space), field(reserved), field(hash), field(await digest(message, algorithm)));
    if (kind === HARDWARE) {
      const [application, flags, counter] = [point.field(), mark.take(1), mark.take(4)];
      found.isTouched = (flags[0] & TOUCHED) !== 0;
      signed = joined(await digest(application), flags, counter, await digest(signed));
    }
    point.end();
    mark.end();
    let imported;
    try {
      imported = await crypto.subtle.importKey("raw", bare, "Ed25519", false, ["verify"]);
    } catch (error) {
      if (error.name !== "NotSupportedError") throw error;
      return { ...found, verdict: "not_checked", why: "this browser has no Ed25519" };
    }
    if (!(await crypto.subtle.verify("Ed25519", imported, sixtyFour, signed))) throw new Bad("another key made it, or for something else");
    const lines = signers.filter((one) => one.key === base64(key));
    const reasons = lines.map((one) => against(one, namespace, Math.floor(at / 1e6)));
    const place = reasons.indexOf("");
    if (place < 0) return { ...found, verdict: "unknown_signer", why: reasons[0] ?? "the key is not among the published signers" };
    return { ...found, verdict: "signed", by: lines[place].by };
  } catch (error) {
    return { ...found, why: reason(error) };
  }
}

// The signature of an act (log.md, section 14), which covers all events before; null where it has none for the site's repository.
async function act({ session, events }, event, signers, repository) {
  try {
    const { signature: said, actor, at } = JSON.parse(event.data);
    if (!said?.repository || said.repository !== repository) return null;
    const [before, sshsig] = [events[event.version - 2] ?? { version: 0, hash: hex(GENESIS) }, unbase64(said.sshsig)];
    if (!Number.isSafeInteger(at)) throw new Bad("its time is beyond what a browser counts");
    if (!isSame(reader(sshsig.slice(10)).field(), unbase64(said.key))) throw new Bad("another key made it than the event says");
    if (JSON.parse(said.proposal).by !== actor.kind) throw new Bad("another kind of actor signed it");
    const message = joined(
      text("preflights.signed/1"), text(repository), text(session.session_id), u64(before.version), unhex(before.hash, 32),
      await digest(utf8(said.proposal)), text(actor.name), i64(at));
    return await signature(`preflights-${event.act}`, message, sshsig, signers, at);
  } catch (error) {
    return { ...FAILED, why: reason(error) };
  }
}

return { chain, signature, signersIn, act, hex, unhex, unbase64, utf8, digest };
})();
