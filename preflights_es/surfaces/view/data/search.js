// Finds decisions as one types: those that hold every word.
"use strict";

const searchable = (() => {
  const make = (name, values) => Object.assign(document.createElement(name), values);
  const form = document.querySelector("form.find");
  const [query, found, matches] = [form.elements.q, document.getElementById("found"), make("ul", { className: "rows", ariaLive: "polite" })];
  let known = null;

  function show() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const having = (known ?? []).filter(([, , , text]) => words.every((word) => text.includes(word)));
    matches.hidden = !(found.hidden = words.length > 0);
    matches.replaceChildren(...having.slice(0, 100).map(([href, title, about]) => {
      const item = make("li");
      item.append(make("a", { href, textContent: title, className: "title" }), make("div", { textContent: about, className: "meta" }));
      return item;
    }));
    if (known && !having.length) matches.append("No decision matches.");
  }

  query.addEventListener("input", () => {
    if (known) return show();
    known = [];
    document.head.append(make("script", { src: form.dataset.index }));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  found.before(matches);
  form.hidden = false;
  return (rows) => { known = rows; show(); };
})();
