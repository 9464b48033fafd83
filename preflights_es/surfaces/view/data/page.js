// Copies an id, a command or the page's link, and keeps a list fresh while nobody is at work in it.
"use strict";
(() => {
  function copies() {
    if (!navigator.clipboard) return;
    for (const one of document.querySelectorAll(":is([data-copy], footer code):not(.copy *)")) {
      const text = one.dataset.copy || one.textContent;
      const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", title: "Copy" });
      one.replaceWith(button);
      one.hidden = false;
      button.append(one);
      button.onclick = async () => {
        try {
          await navigator.clipboard.writeText(text === "link" ? location.href : text);
        } catch {
          return getSelection().selectAllChildren(one); // the browser refuses: the person copies it
        }
        button.classList.add("done");
        document.getElementById("copied").textContent = "Copied";
        setTimeout(() => { button.classList.remove("done"); document.getElementById("copied").textContent = ""; }, 1500);
      };
    }
  }

  const list = () => document.querySelector("[data-fresh]");
  const isBusy = () => document.hidden || !getSelection().isCollapsed || document.activeElement?.closest("[data-fresh] :is(input, select, textarea)");
  let [address, shown, wait] = [location.href, list()?.innerHTML, 4000];

  async function look() {
    const began = performance.now();
    try {
      if (isBusy()) return;
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = page.querySelector("[data-fresh]");
      wait = Math.max(4000, 20 * (performance.now() - began)); // a long log is not asked all the time
      if (!answer.ok || !next || isBusy()) return;
      const news = next.innerHTML;
      if (address === location.href && news !== shown) {
        const had = document.activeElement?.closest("[data-fresh] a")?.getAttribute("href");
        list().replaceWith(next);
        document.title = page.title;
        copies();
        if (had) next.querySelector(`a[href="${CSS.escape(had)}"]`)?.focus({ preventScroll: true });
        document.dispatchEvent(new Event("fresh"));
      }
      [address, shown] = [location.href, news];
    } catch {
      wait = 60000; // the server ended
    } finally {
      setTimeout(look, wait);
    }
  }

  copies();
  document.addEventListener("shown", copies);
  if (list()) setTimeout(look, wait);
})();
