// Search as one types, and a slider over the days; the forms of the page do the same without.
"use strict";
(() => {
  const found = () => document.getElementById("found");
  const query = document.getElementById("q");
  let asked = 0;
  let timer;

  async function go(change) {
    const mine = ++asked;
    const to = new URL(location.href);
    for (const [name, value] of Object.entries({page: "", ...change})) {
      if (value) to.searchParams.set(name, value);
      else to.searchParams.delete(name);
    }
    const answer = await fetch(to);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById("found");
    if (mine !== asked || !next) return;
    const had = document.activeElement && document.activeElement.id;
    found().replaceWith(next);
    document.querySelector("footer").replaceWith(page.querySelector("footer"));
    history.replaceState(null, "", to);
    ready();
    if (had && had !== "q") document.getElementById(had)?.focus();
  }

  function soon(change) {
    clearTimeout(timer);
    timer = setTimeout(() => go(change), 150);
  }

  function ready() {
    const day = document.getElementById("day");
    if (!day) return;
    const first = Date.parse(day.dataset.first);
    const name = () => day.value === day.max ? "" :
      new Date(first + day.value * 86400000).toISOString().slice(0, 10);
    const say = () => day.setAttribute("aria-valuetext", name() || "today");
    day.closest("label").hidden = false;
    say();
    day.addEventListener("input", () => {
      say();
      document.getElementById("as-of").value = name();
      soon({"as-of": name(), all: ""});
    });
  }

  query.addEventListener("input", () => soon({q: query.value.trim()}));
  ready();
})();
