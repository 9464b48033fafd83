// Finds decisions as one types, by topic, and as of a day.
"use strict";

const searchable = (() => {
  const make = (name, values) => Object.assign(document.createElement(name), values);
  const form = document.querySelector("form.find");
  const { q, topic, day, at } = form.elements;
  const [found, matches] = [document.getElementById("found"), make("ul", { className: "rows", ariaLive: "polite" })];
  let known = null;

  function show() {
    const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const then = day && day.value !== day.max ? new Date(Date.parse(day.dataset.first) + day.value * 864e5).toISOString().slice(0, 10) : "";
    if (day) day.ariaValueText = at.value = then || "today";
    const having = known.filter(([, , , text, about, from, to]) =>
      words.every((word) => text.includes(word)) && [about, ""].includes(topic.value) && (!then || (from && from <= then && !(to && to <= then))));
    matches.hidden = !(found.hidden = words.length || topic.value || then);
    matches.replaceChildren(make("li", { textContent: `Decisions that match: ${having.length}` }), ...having.slice(0, 100).map(([href, title, about]) => {
      const item = make("li");
      item.append(make("a", { href, textContent: title, className: "title" }), make("div", { textContent: about, className: "meta" }));
      return item;
    }));
  }

  addEventListener("input", () => {
    if (known) return show();
    known = [];
    document.head.append(make("script", { src: form.dataset.index }));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  found.before(matches);
  for (const one of [form, day?.max >= 3 && day.closest("section")]) one && one.removeAttribute("hidden"); // a slider over two days says nothing
  return (rows) => { known = rows; show(); };
})();
