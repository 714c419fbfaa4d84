// The questions of `chooser.py`; what is said and handed over for every answer comes with the page.

(() => {
  "use strict";
  const QUESTIONS = ["position", "longer", "token"];

  const decided = (...answers) => answers.find((answer) => answer !== "no") ?? "text";

  function redraw(view, state, data) {
    const found = data[decided(...QUESTIONS.map((key) => state[key]))];
    view.set(view.part("mark"), { y: found.y });
    for (const part of ["code", "test", "see"]) view.part(part).textContent = found[part];
    view.set(view.part("see"), { href: found.page });
    return found.says;
  }

  window.posencExplorables.define("chooser", { functions: { decided }, redraw });
})();
