// The button that starts Python on a page. Nothing else of it is loaded before the click.

document.addEventListener("DOMContentLoaded", () => {
  const bar = document.querySelector(".posenc-run");
  if (!bar) return;
  const button = bar.querySelector("button");
  const status = bar.querySelector("[role=status]");

  function load() {
    if (location.protocol === "file:") {
      status.textContent =
        "This page was opened from a folder, where browsers do not let Python start. Run " +
        "“make serve” in the book's repository, or “python -m http.server” in the folder of the " +
        "site, and open the address that it names.";
      return;
    }
    button.disabled = true;
    status.textContent = "Loading…";
    const script = document.createElement("script");
    script.src = `${bar.dataset.folder}notebook.js?v=${bar.dataset.version}`;
    script.addEventListener("load", () => window.posencRun.start(bar));
    script.addEventListener("error", () => {
      script.remove();
      button.disabled = false;
      status.textContent = "A part of this page could not be loaded. Is there a network? Try again.";
    });
    document.head.append(script);
  }

  button.addEventListener("click", load);
  bar.classList.add("is-live");
});
