// What a screen reader says: names, roles and states that the theme, its extensions and the stored
// figures leave out. Nothing here changes what is seen.
(() => {
  const each = (selector, mend) => document.querySelectorAll(selector).forEach(mend);

  // A box is folded by a button with the box's name: the word before it is seen and changes.
  function nameFold(button) {
    const title = button.parentElement.textContent.trim().replace(/\s+/g, " ");
    const name = () => (button.ariaLabel = `${button.dataset.toggleHint} ${title}`);
    new MutationObserver(name).observe(button, { attributeFilter: ["data-toggle-hint"] });
    name();
  }

  function nameCode(block) {
    block.role = "group"; // so that its end is said, too
    block.ariaLabel = block.closest(".cell_output") ? "Output" : "Code";
  }

  function makeHeading(title) {
    const above = title.closest("section")?.querySelector("h1, h2, h3, h4, h5");
    title.role = "heading";
    title.ariaLevel = Number(above?.tagName[1] ?? 1) + 1;
  }

  // The first frame of a figure has a description; any other has the sentence below it. The numbers
  // beside sliders repeat what the sliders say.
  function describe(figure) {
    const drawing = figure.querySelector("svg");
    const said = figure.querySelector(".explorable-summary");
    const [first, alt] = [said.textContent, drawing.ariaLabel];
    const tell = () => (drawing.ariaLabel = said.textContent === first ? alt : said.textContent);
    new MutationObserver(tell).observe(said, { childList: true });
    const silent = [...drawing.children, ...figure.querySelectorAll("output")];
    for (const part of silent) part.ariaHidden = "true";
  }

  document.addEventListener("DOMContentLoaded", () => {
    const headed = "article table.table:has(thead th:first-child)";
    const firstCell = `${headed} > tbody > tr > td:first-child:not(:only-child)`;
    each("article div.highlight", nameCode);
    each(".exercise > .admonition-title, .proof > p.admonition-title", makeHeading);
    each(".bd-sidebar-primary [role=heading]", (part) => (part.role = part.ariaLevel = null));
    each(".bd-header, .bd-footer", (bar) => bar.textContent.trim() || (bar.role = "none"));
    each(firstCell, (cell) => (cell.role = "rowheader"));
    each("figure.explorable", describe);
    each("details.hide > summary", (fold) => (fold.ariaLabel = null)); // its own words are better
  });
  window.addEventListener("load", () => each(".toggle-button", nameFold)); // made after the page
})();
