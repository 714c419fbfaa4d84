// What a style sheet cannot mend: roles that the theme and its extensions leave out or get wrong,
// and equations that are wider than a small screen.

document.addEventListener("DOMContentLoaded", () => {
  const home = document.querySelector(".sidebar-primary-items__start > .sidebar-primary-item");
  if (home?.querySelector("a.logo")) {
    home.setAttribute("role", "navigation");
    home.setAttribute("aria-label", "Home");
  }
  for (const entry of document.querySelectorAll("[role=doc-biblioentry]")) {
    entry.setAttribute("role", "listitem");
  }
});

// A wide equation scrolls in its own box, and the keyboard can reach the box.
function boxWideEquations() {
  for (const equation of document.querySelectorAll("article mjx-container")) {
    equation.classList.remove("wide");
    equation.removeAttribute("tabindex");
    const column = equation.closest(".math")?.parentElement ?? equation.parentElement;
    const width = equation.firstElementChild?.getBoundingClientRect().width ?? 0;
    // A display equation leaves room for its number, so its own box is narrower than the column.
    const boxed = equation.getAttribute("display") && equation.scrollWidth > equation.clientWidth + 1;
    const wide = boxed || width > column.clientWidth + 1;
    if (wide && !column.closest(".pst-scrollable-table-container")) {
      equation.classList.add("wide");
      equation.tabIndex = 0;
    }
  }
}

window.addEventListener("load", () => {
  window.MathJax?.startup?.promise?.then(boxWideEquations);
  window.addEventListener("resize", boxWideEquations);
});
