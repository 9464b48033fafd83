// Search as one types, and a slider over the days; the forms of the page do the same without.
"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  let asked = 0, timer;

  async function go(change) {
    const [mine, to] = [++asked, new URL(location.href)];
    for (const [name, value] of Object.entries({ page: "", ...change })) {
      if (value) to.searchParams.set(name, value);
      else to.searchParams.delete(name);
    }
    const page = new DOMParser().parseFromString(await (await fetch(to)).text(), "text/html");
    const next = page.getElementById("found");
    if (mine !== asked || !next) return;
    const had = document.activeElement?.id;
    get("found").replaceWith(next);
    document.querySelector("footer").replaceWith(page.querySelector("footer"));
    history.replaceState(null, "", to);
    document.dispatchEvent(new Event("shown"));
    ready();
    if (had && had !== "q") get(had)?.focus();
  }

  function soon(change) {
    clearTimeout(timer);
    timer = setTimeout(go, 150, change);
  }

  function ready() {
    const day = get("day");
    if (!day) return;
    const name = () => (day.value === day.max ? "" : new Date(Date.parse(day.dataset.first) + day.value * 864e5).toISOString().slice(0, 10));
    const say = () => { day.ariaValueText = name() || "today"; };
    day.closest("label").hidden = false;
    say();
    day.addEventListener("input", () => {
      say();
      get("as-of").value = name();
      soon({ "as-of": name(), all: "" });
    });
  }

  document.addEventListener("fresh", ready);
  get("q").addEventListener("input", (event) => soon({ q: event.target.value.trim() }));
  ready();
})();
