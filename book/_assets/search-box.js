// The search's box, in the dialog and on its own page: hits appear while one types. Arrows walk
// through them, Enter opens one, Escape closes the dialog.
(() => {
  const here = document.currentScript.src;
  const ROOT = new URL("../", here);
  const [IN_DIALOG, ON_PAGE] = [8, 30];
  let index;
  let beginnings;

  // As scripts, and only when somebody searches; how sections begin only when hits are there.
  function load() {
    index ??= fetchScript("search.js").then(() => fetchScript("search-index.js"));
    return index;
  }

  function loadBeginnings() {
    beginnings ??= load().then(() => fetchScript("search-beginnings.js"));
    return beginnings;
  }

  function fetchScript(name) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = new URL(name, here);
      script.addEventListener("load", done);
      script.addEventListener("error", failed);
      document.head.append(script);
    });
  }

  function make(tag, of = {}, ...inside) {
    const made = Object.assign(document.createElement(tag), of);
    made.append(...inside);
    return made;
  }

  // A text with its marked words.
  function marked(text, stems) {
    return text.split(/([\p{L}\p{N}_]+)/u).map((part, number) => (
      number % 2 && posencSearch.isMarked(part, stems) ? make("mark", { textContent: part }) : part));
  }

  function item({ page, anchor, title, chapter, part, number, message, marked: stems }) {
    const link = make("a", { href: new URL(`${page}.html${anchor ? `#${anchor}` : ""}`, ROOT).href });
    const where = message ? `Error message, answered in ${title === chapter ? "" : `${title} · `}${chapter}`
      : title === chapter ? part : chapter;
    link.append(
      make("span", { className: "posenc-hit-title" }, ...marked(message ?? title, stems)),
      make("span", { className: "posenc-hit-where" }, where),
    );
    const text = make("span", { className: "posenc-hit-text" });
    link.append(text);
    loadBeginnings().then(() => text.append(...marked(posencSearch.beginning(number), stems)), () => {});
    return make("li", {}, link);
  }

  // What is said above the hits; where the book has not all of it, with a link to ask.
  function summary(query, hits) {
    const words = posencSearch.missing(query);
    const best = hits.length === 1 ? "One section" : `The best ${hits.length} sections`;
    if (hits.length && !words.length) return [best];
    const names = words.slice(0, 3).map((word) => `“${word}”`).join(", ");
    const not = words.length ? `Not in the book: ${names}. ` : "No section has these words. Try other ones, or fewer. ";
    const ask = make("a", { href: posencSearch.ask(query), className: "posenc-ask" }, "Ask for it");
    return [not, ask, hits.length ? ". The nearest sections:" : "."];
  }

  // On the page that is sent in place of one that is not there: the words of its address.
  function lost() {
    if (!document.querySelector("[data-lost]")) return "";
    const path = location.pathname.replace(ROOT.pathname, "").replace(/%[0-9a-f]{2}/gi, " ");
    const parts = path.split("/").map((part) => part.replace(/^index(?=\.|$)|\.\w+$/g, "").match(/[\p{L}\p{N}]{2,}/gu));
    return parts.filter(Boolean).at(-1)?.join(" ") ?? "";
  }

  function attach(form) {
    const dialog = form.closest("dialog");
    const input = form.querySelector("input");
    const list = make("ul", { className: "search" });
    const status = make("p", { className: "posenc-hits-told" });
    status.setAttribute("role", "status");
    const box = make("div", { className: "posenc-hits", id: dialog ? "search-dialog-results" : "search-results" });
    box.append(status, list);
    form.after(box);
    const links = () => [...list.querySelectorAll("a")];

    async function show() {
      const query = input.value.trim();
      if (query.length < 2) {
        list.replaceChildren();
        status.textContent = "";
        return;
      }
      try {
        await load();
      } catch {
        status.textContent = "The index of the search could not be loaded.";
        return;
      }
      if (query !== input.value.trim()) return;  // somebody has typed on
      const hits = posencSearch.find(input.value, dialog ? IN_DIALOG : ON_PAGE);
      list.replaceChildren(...hits.map(item));
      status.replaceChildren(...summary(query, hits));
    }

    function walk(event) {
      if (event.key === "Escape" && event.target !== input) dialog?.close();
      const all = links();
      const at = all.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || !all.length || (at < 0 && document.activeElement !== input)) return;
      if (at < 0 && step < 0) return;
      event.preventDefault();
      const next = at + step < 0 ? input : all[Math.min(at + step, all.length - 1)];
      next.focus();
    }

    input.addEventListener("input", show);
    input.addEventListener("focus", () => load().catch(() => {}));
    for (const part of [form, box]) part.addEventListener("keydown", walk);
    list.addEventListener("click", (event) => {
      if (event.target.closest("a")) dialog?.close();  // the hit may be on this very page
    });
    if (dialog) return;
    input.value = new URLSearchParams(location.search).get("q") ?? lost();
    input.focus();
    show();
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form.bd-search").forEach(attach);
  });
})();
