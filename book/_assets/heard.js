// What a screen reader says: names, roles and states that the theme, its extensions and the stored
// figures leave out. Nothing here changes what is seen.

// A button that folds a box is called by the box, as in "Unfold Hint 2"; the word before it is the
// one that is seen and changes with the state. A folded cell is called by its own words.
function nameFolds() {
  for (const button of document.querySelectorAll(".toggle-button")) {
    const title = button.parentElement.textContent.trim().replace(/\s+/g, " ");
    const name = () => (button.ariaLabel = `${button.dataset.toggleHint} ${title}`);
    new MutationObserver(name).observe(button, { attributeFilter: ["data-toggle-hint"] });
    name();
  }
  for (const fold of document.querySelectorAll("details.hide > summary")) {
    fold.removeAttribute("aria-label");
  }
}

// Code and what it prints are announced, and so is where they end.
function nameCode() {
  for (const block of document.querySelectorAll("article div.highlight")) {
    block.setAttribute("role", "group");
    block.setAttribute("aria-label", block.closest(".cell_output") ? "Output" : "Code");
  }
}

// Exercises and theorems are headings below their section's; the parts of the book in the margin
// are no headings of this page; bars of the theme that hold nothing are no landmarks.
function outline() {
  for (const title of document.querySelectorAll(".exercise > .admonition-title, .proof > p.admonition-title")) {
    const above = title.closest("section")?.querySelector("h1, h2, h3, h4, h5");
    title.setAttribute("role", "heading");
    title.setAttribute("aria-level", Number(above?.tagName[1] ?? 1) + 1);
  }
  for (const part of document.querySelectorAll(".bd-sidebar-primary [role=heading]")) {
    part.removeAttribute("role");
    part.removeAttribute("aria-level");
  }
  for (const bar of document.querySelectorAll("header.bd-header, footer.bd-footer")) {
    if (!bar.textContent.trim()) bar.setAttribute("role", "none");
  }
}

// The first column of a table in Markdown says what its row is about.
function headRows() {
  const cells = "table.table > tbody > tr > td:first-child:not(:only-child)";
  for (const cell of document.querySelectorAll(`article ${cells}`)) {
    const corner = cell.closest("table").querySelector("thead th:first-child");
    if (corner) cell.setAttribute("role", "rowheader");
  }
}

// The first frame of a figure has a description; any other is described by the sentence below it.
// The numbers beside its sliders repeat what the sliders say themselves.
function describeFigures() {
  for (const figure of document.querySelectorAll("figure.explorable")) {
    const drawing = figure.querySelector("svg");
    const said = figure.querySelector(".explorable-summary");
    const [first, alt] = [said.textContent, drawing.getAttribute("aria-label")];
    const describe = () => {
      const now = said.textContent;
      drawing.setAttribute("aria-label", now === first ? alt : now);
    };
    new MutationObserver(describe).observe(said, { childList: true });
    for (const part of [...drawing.children, ...figure.querySelectorAll("output")]) {
      part.setAttribute("aria-hidden", "true");
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  nameCode();
  outline();
  headRows();
  describeFigures();
});
window.addEventListener("load", nameFolds); // the theme makes them when the page is there
