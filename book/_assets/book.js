// What a style sheet cannot mend: roles that the theme and its extensions leave out or get wrong,
// and equations that are wider than a small screen.

document.addEventListener("DOMContentLoaded", () => {
  const home = document.querySelector(".sidebar-primary-items__start > .sidebar-primary-item");
  if (home?.querySelector("a.logo")) {
    home.setAttribute("role", "navigation");
    home.setAttribute("aria-label", "Home");
  }
  for (const arrow of document.querySelectorAll("a + details > summary")) {
    const page = arrow.closest(".has-children").querySelector("a")?.textContent.trim();
    arrow.setAttribute("aria-label", `Pages of ${page}`);
  }
  for (const corner of document.querySelectorAll("article thead th")) {
    if (!corner.textContent.trim()) corner.replaceWith(document.createElement("td"));
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

// The keyboard can reach a block of code that scrolls, also one that was folded when the page came.
document.addEventListener("DOMContentLoaded", () => {
  const sizes = new ResizeObserver((changed) => {
    for (const { target } of changed) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    }
  });
  for (const block of document.querySelectorAll("article pre")) sizes.observe(block);
});

// Marks of verdicts in chapters are hidden until a switch in the header shows them. It stands on
// pages that have such marks, and what is chosen holds for all.
(() => {
  const page = document.documentElement;
  page.dataset.marks = localStorage.getItem("posenc-marks") ?? "hidden";
  document.addEventListener("DOMContentLoaded", () => {
    const header = document.querySelector(".article-header-buttons");
    if (!header || !document.querySelector(".posenc-quiet")) return;
    const button = document.createElement("button");
    const tell = () => button.setAttribute("aria-checked", page.dataset.marks === "shown");
    for (const words of ["✓", "Audit marks"]) {
      button.append(Object.assign(document.createElement("span"), { textContent: words }));
    }
    button.type = "button";
    button.className = "posenc-marks";
    button.title = "Show in the text which statements were checked";
    button.setAttribute("role", "switch");
    button.setAttribute("aria-label", "Audit marks");
    button.addEventListener("click", () => {
      page.dataset.marks = page.dataset.marks === "shown" ? "hidden" : "shown";
      localStorage.setItem("posenc-marks", page.dataset.marks);
      tell();
    });
    tell();
    header.prepend(button);
  });
})();

// The card of a verdict's mark opens by style alone, on hover and on focus. Here: Escape closes it,
// and it moves to the left where it would leave the screen.
document.addEventListener("DOMContentLoaded", () => {
  for (const mark of document.querySelectorAll(".posenc-mark")) {
    const card = mark.querySelector("[role=tooltip]");
    const open = () => {
      mark.classList.remove("closed");
      card.style.removeProperty("margin-inline-start");
      const over = card.getBoundingClientRect().right + 8 - document.documentElement.clientWidth;
      if (over > 0) card.style.marginInlineStart = `${-over}px`;
    };
    mark.addEventListener("mouseenter", open);
    mark.addEventListener("focusin", open);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const mark of document.querySelectorAll(".posenc-mark")) mark.classList.add("closed");
  });
});

// What has moved: the old address of a verdict leads on to where its cell stands now, and an anchor
// of the first edition to what took its place.
(() => {
  const assets = document.currentScript.src;
  const root = new URL("../", assets);

  function learn(name, lead) {
    const list = document.createElement("script");
    list.src = new URL(name, assets);
    list.addEventListener("load", () => {
      const found = lead();
      if (found) location.replace(new URL(found, root));
    });
    document.head.append(list);
  }

  const own = (all, name) => (Object.hasOwn(all ?? {}, name) ? all[name] : undefined);

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;  // such as "%", which stands for no letter
    }
  }

  window.addEventListener("DOMContentLoaded", () => {
    const anchor = decoded(location.hash.slice(1));
    if (!anchor || document.getElementById(anchor)) return;
    const claim = anchor.match(/^claim-([A-Z][0-9]+)$/);
    const here = location.pathname.slice(root.pathname.length).replace(/\.html$/, "");
    if (claim) {
      const page = () => own(window.posencClaims, claim[1]);
      learn("claims-where.js", () => page() && `${page()}${location.hash}`);
    } else {
      learn("anchors-where.js", () => own(own(window.posencMoved, here), anchor));
    }
  });
})();

// Quizzes: say to screen readers what appears beside a chosen answer.
document.addEventListener("change", (event) => {
  const question = event.target.closest?.(".posenc-quiz fieldset");
  if (!question) return;
  const why = event.target.parentElement.querySelector(".posenc-why");
  question.querySelector("[role=status]").textContent = why.textContent;
});

// Buttons of the theme: the pages carry no script, so a word in them says what a button does.
document.addEventListener("click", (event) => {
  const asked = event.target.closest?.("[data-does]")?.dataset.does;
  if (asked === "print") window.print();
  if (asked === "full-screen") window.toggleFullScreen();
});
