// The questions of `chooser.py`; what is said and handed over for every answer comes with the page.

(() => {
  "use strict";
  const QUESTIONS = ["position", "longer", "token"];

  function decided(...answers) {
    return answers.find((answer) => answer !== "no") ?? "text";
  }

  function redraw(view, state, data) {
    const found = data[decided(...QUESTIONS.map((key) => state[key]))];
    view.set(view.part("mark"), { y: found.y });
    for (const part of ["code", "test"]) view.part(part).textContent = found[part];
    view.part("see").textContent = found.evidence;
    view.set(view.part("see"), { href: found.see });
    return found.says;
  }

  window.posencExplorables.define("chooser", { functions: { decided }, redraw });
})();
