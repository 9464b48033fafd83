
"use strict";
(() => {
  const { report, cases, left_out: leftOut } = JSON.parse(document.getElementById("data").textContent);
  const STEP = 100; // sessions that are added to the list at once
  const OUTCOMES = ["failed", "faulted", "damaged", "open", "flaky", "changed", "fixed", "same"];
  const NO_CAUSE = "none";
  const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
  const strict = report.verdict.margin === null;
  // `preflights view` serves this page below /reports/: only there is a page of each session.
  const isServed = location.protocol.startsWith("http") && location.pathname.startsWith("/reports/");
  const at = (id) => document.getElementById(id);

  // All text goes through here: it becomes text, never markup, and nothing in it hides.
  const visible = (text) =>
    String(text).replace(/\r\n/g, "\n").replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

  const make = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
    made.append(...children.map((one) => (one instanceof Node ? one : visible(one))));
    return made;
  };

  const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  const causesOf = (one) => (one.causes.length ? one.causes.map((cause) => cause.kind) : [NO_CAUSE]);

  const causeText = (cause) => {
    const said = !cause.detail ? cause.kind : cause.detail.startsWith(cause.kind) ? cause.detail : `${cause.kind}: ${cause.detail}`;
    return said + (cause.together ? " (only together)" : "");
  };

  const table = (name, columns, rows) =>
    make("table", { class: name },
      make("thead", null, make("tr", null, ...columns.map((one) => make("th", { scope: "col" }, one)))),
      make("tbody", null, ...rows));

  const fact = (name, values) => {
    if (values.length) at("facts").append(make("dt", null, name), ...values.map((one) => make("dd", { class: "text" }, one)));
  };

  const showHead = () => {
    const { word, why, figures, noise } = report.verdict;
    document.title = `${word}: Preflights regress`;
    at("word").append(word);
    at("word").className = word;
    at("why").append(why);
    fact("Changes", strict ? ["none: today's code, strictly"] : report.changes);
    fact("Selection", [report.selection]);
    fact("Sessions", [`${report.unit === "pair" ? `${counted(Object.values(report.counts).reduce((sum, one) => sum + one, 0), "pair")} of ` : ""}${counted(report.sessions, "session")}`]);
    fact("Figures", figures ? [figures] : []);
    fact("Accepted", Object.entries(report.accepted).map(([person, count]) => `${count.toLocaleString("en")} by ${person}`));
    fact("Drift", report.drifted ? [`both sides differ from the recording in ${counted(report.drifted, report.unit)}`] : []);
    fact("Not judged", report.left_out);
    fact("To know", report.notes);
    fact("Asked live", report.live_calls ? [counted(report.live_calls, "call")] : []);
    fact("Noise", noise ? [`${counted(noise.runs, "run")} of the unchanged side: ${percent(noise.agreement)} of sessions differ in agreement, ${percent(noise.validity)} in validity`] : []);
    fact("Time", report.seconds === null ? [] : [`${report.seconds.toFixed(1)} s`]);
    fact("Preflights", [report.preflights]);
  };

  const showTests = () => {
    const { tests, margin } = report.verdict;
    if (!tests.length) return;
    const figures = [["Pairs", (one) => one.pairs.toLocaleString("en")], ["Worse", (one) => one.worse.toLocaleString("en")],
      ["Better", (one) => one.better.toLocaleString("en")], ["Without a result", (one) => one.unknown.toLocaleString("en")],
      ["p (McNemar, after Holm)", (one) => one.p_adjusted.toPrecision(2)], ["Loss", (one) => percent(one.loss)],
      ["Loss at most (95 %)", (one) => percent(one.loss_bound)], ["Smallest loss that could be shown", (one) => percent(one.smallest_loss)],
      ["Pairs that would do", (one) => one.pairs_needed.toLocaleString("en")]];
    at("tests").replaceWith(table("tests", ["Measure", ...tests.map((one) => one.measure)],
      figures.map(([name, of]) => make("tr", null, make("th", { scope: "row" }, name),
        ...tests.map((one) => make("td", { class: "number" }, of(one)))))));
    at("margin").append(`The change may pass where "Loss at most" is below ${percent(margin)}.`);
    at("statistics").hidden = false;
  };

  // The part that both have at the beginning and at the end stands unmarked, cut at white space.
  const marked = (text, other, name) => {
    const mine = [...text.matchAll(/\s+|\S+/g)].map(String);
    const theirs = [...other.matchAll(/\s+|\S+/g)].map(String);
    const most = Math.min(mine.length, theirs.length);
    let first = 0;
    while (first < most && mine[first] === theirs[first]) first += 1;
    let last = 0;
    while (last < most - first && mine.at(-1 - last) === theirs.at(-1 - last)) last += 1;
    const middle = mine.slice(first, mine.length - last).join("");
    return make("pre", { class: "value" }, mine.slice(0, first).join(""),
      ...(middle ? [make("mark", { class: name }, middle)] : []), mine.slice(mine.length - last).join(""));
  };

  const SIDES = ["As recorded", strict ? "As today's code decides" : "With the change"];

  const differenceRow = (one) => {
    const text = [one.expected, one.actual].every((value) => typeof value === "string");
    const [expected, actual] = [one.expected, one.actual].map((value) => (text ? visible(value) : JSON.stringify(value, null, 1)));
    return make("tr", null,
      make("th", { scope: "row" }, make("span", { class: "text" }, one.place),
        ...(one.version ? [make("div", { class: "soft text" }, `version ${one.version}, ${one.type}`)] : [])),
      make("td", { "data-side": SIDES[0] }, marked(expected, actual, "lost")),
      make("td", { "data-side": SIDES[1] }, marked(actual, expected, "won")));
  };

  const ROWS = [["Valid", "valid"], ["As accepted", "agrees"], ["Result", "result"], ["Questions", "questions"], ["Turns", "turns"],
    ["Fallbacks", "fallbacks"], ["Calls", "calls"], ["Tokens", "tokens"], ["Cost", "cost"]];
  const sideText = (value) => (value === null ? "–" : value === true ? "yes" : value === false ? "no" : String(value).slice(0, 16));

  const sideRow = (one, name, key) => {
    const [before, after] = [one.recorded[key], one.candidate[key]];
    const cell = (value, side) => make("td", null, before === after ? sideText(value) : make("mark", { class: side }, sideText(value)));
    return make("tr", null, make("th", { scope: "row" }, name), cell(before, "lost"), cell(after, "won"));
  };

  const body = (one) => {
    const parts = [];
    if (one.message) parts.push(make("p", { class: "text" }, one.message));
    const lines = [["Session", one.session_id], ["From call", one.call], ["Group", one.group], ["Accepted by", one.accepted_by], ["In", one.source === "log" ? "the log" : one.source], ["Workflow", one.workflow], ["Repeat with", one.repeat],
      ["Answered with what was accepted", one.assumed.join(", ")]];
    if (isServed && one.source === "log" && one.session_id) {
      parts.push(make("p", null, make("a", { href: `/sessions/${encodeURIComponent(one.session_id)}` }, "Open the session")));
    }
    parts.push(make("ul", null, ...lines.filter(([, value]) => value).map(([name, value]) => make("li", null, `${name}: `, make("code", null, value)))));
    if (one.causes.length) parts.push(make("h3", null, "Causes"), make("ul", null, ...one.causes.map((cause) => make("li", { class: "text" }, causeText(cause)))));
    if (one.differences.length) {
      parts.push(make("h3", null, "Differences"), table("differences", ["Where", ...SIDES], one.differences.map(differenceRow)));
      const more = one.difference_count - one.differences.length;
      if (more > 0) parts.push(make("p", null, `and ${counted(more, "more difference")}`));
    }
    if (one.recorded && one.candidate) {
      parts.push(make("h3", null, "Both sides"), table("sides", ["", ...SIDES].map((name) => name || "Of the session"),
        ROWS.map(([name, key]) => sideRow(one, name, key))));
    }
    return make("div", { class: "body" }, ...parts);
  };

  const item = (one) => {
    const details = make("details", null, make("summary", null,
      make("span", { class: `outcome ${one.outcome}` }, one.outcome),
      make("span", { class: "text" }, one.intention || (one.call ? `${one.session_id} call ${one.call}` : one.session_id) || one.source),
      make("span", { class: "text" }, one.accepted_by ? "accepted " : "",
        one.measures.join(", "), make("span", { class: "soft" }, one.causes.length ? ` ${one.causes.map(causeText).join("; ")}` : one.message && ` ${one.message}`))));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(body(one));
    });
    return make("li", null, details);
  };

  const boxes = (place, names, counts, isOn) => {
    for (const name of names.filter((one) => counts.get(one))) {
      const box = make("input", { type: "checkbox", name: place, value: name, ...(isOn(name) ? { checked: "" } : {}) });
      at(place).append(make("label", null, box, `${name} (${counts.get(name).toLocaleString("en")})`));
    }
  };

  const tally = (names) => names.reduce((counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1), new Map());
  const checked = (place) => new Set([...at(place).querySelectorAll(":checked")].map((box) => box.value));

  let found = [];
  let shown = 0;

  const showMore = (focus) => {
    const items = found.slice(shown, shown + STEP).map(item);
    at("cases").append(...items);
    shown += items.length;
    at("more").hidden = shown >= found.length;
    at("more").textContent = `Show ${Math.min(STEP, found.length - shown)} more`;
    if (focus && items.length) items[0].querySelector("summary").focus();
  };

  const filter = () => {
    const outcomes = checked("outcomes");
    const causes = checked("causes");
    const text = at("text").value.trim().toLowerCase();
    found = cases.filter((one) => outcomes.has(one.outcome) && causesOf(one).some((kind) => causes.has(kind))
      && (!text || [one.intention, one.session_id, one.workflow, one.source].some((name) => name.toLowerCase().includes(text))));
    at("cases").replaceChildren();
    shown = 0;
    showMore(false);
    const rest = leftOut ? ` ${counted(leftOut, `more ${report.unit}`)} did not fit into this page: the JSON report has all.` : "";
    at("count").textContent = `${found.length.toLocaleString("en")} of ${counted(cases.length, report.unit)} match.${rest}`;
  };

  showHead();
  showTests();
  const counts = tally(cases.map((one) => one.outcome));
  boxes("outcomes", OUTCOMES, counts, (name) => name !== "same" || counts.size === 1);
  const kinds = tally(cases.flatMap((one) => [...new Set(causesOf(one))]));
  boxes("causes", [...kinds.keys()].sort((a, b) => (a === NO_CAUSE) - (b === NO_CAUSE) || (a < b ? -1 : 1)), kinds, () => true);
  at("filters").addEventListener("input", filter);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("reset", () => setTimeout(filter)); // the values are reset after the event
  at("more").addEventListener("click", () => showMore(true));
  filter();
})();
