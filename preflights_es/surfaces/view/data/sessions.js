// Arrow keys, steps without a new page, and following a session that goes on.
"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const session = () => get("session");
  const isPlain = (event) => !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.button);
  let asked = null;

  async function go(address, follows) {
    asked?.abort();
    asked = new AbortController();
    let text;
    try {
      const found = await fetch(address, { signal: asked.signal });
      if (!found.ok) throw new Error(found.statusText);
      text = await found.text();
    } catch (error) {
      if (error.name !== "AbortError") location.assign(address);
      return;
    }
    const next = new DOMParser().parseFromString(text, "text/html").getElementById("session");
    const focused = document.activeElement?.getAttribute("rel");
    const left = session().querySelector(".track").scrollLeft, top = session().querySelector(".events").scrollTop;
    const open = [...session().querySelectorAll("details")].map((one) => one.open);
    for (const name of [".head-of", ".timeline", ".steps", ".stood"]) {
      session().querySelector(name).replaceWith(next.querySelector(name));
    }
    Object.assign(session().dataset, next.dataset);
    session().querySelectorAll("details").forEach((one, n) => { one.open ||= !!open[n]; });
    session().querySelector(".track").scrollLeft = left;
    session().querySelector(".events").scrollTop = top;
    if (focused) session().querySelector(`[rel="${focused}"]`)?.focus({ preventScroll: true });
    if (!follows) history.replaceState(null, "", address);
    get("said").textContent = session().dataset.said;
    ready();
  }

  function ready() {
    const within = (outer, inner) => {
      if (!inner) return;
      const [o, i] = [outer.getBoundingClientRect(), inner.getBoundingClientRect()];
      if (i.left < o.left + 20 || i.right > o.right - 20) outer.scrollLeft += i.left - o.left - o.width / 2;
      if (i.top < o.top + 40 || i.bottom > o.bottom) outer.scrollTop += i.top - o.top - o.height / 2;
    };
    for (const name of [".track", ".events"]) within(session().querySelector(name), session().querySelector(`${name} .here`));
    const range = get("to");
    if (range && document.activeElement !== range) range.value = session().dataset.version;
    get("keys").hidden = false;
    get("live").hidden = !live;
  }

  document.addEventListener("keydown", (event) => {
    if (!isPlain(event) || event.target.closest("input, select, textarea, [contenteditable]")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const link = rel && session().querySelector(`.steps [rel="${rel}"]`);
    if (!rel) return;
    event.preventDefault();
    if (link) go(link.href);
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#session a[href^='?']");
    if (!link || !isPlain(event)) return;
    event.preventDefault();
    go(new URL(link.getAttribute("href"), location).href);
  });

  document.addEventListener("input", ({ target }) => {
    if (target.id !== "to") return;
    const query = new URLSearchParams(location.search); // a filter may be newer than the strip
    query.set("at", target.value);
    go(`?${query}`);
  });

  let live, news;
  // A browser has six lines to a server: a hidden tab gives its own back.
  function follow() {
    news?.close();
    if (document.hidden) return;
    news = new EventSource(session().dataset.live);
    news.onopen = news.onerror = ({ type }) => { live = type === "open"; ready(); };
    news.onmessage = (event) => {
      const { version, last } = session().dataset;
      if (+event.data > +last) go(location.pathname + (version === last ? "" : `?at=${version}`), true);
    };
  }
  addEventListener("visibilitychange", follow);
  follow();
  ready();
})();
