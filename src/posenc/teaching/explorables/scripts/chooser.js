// The questions of `chooser.py`; the advice for every answer comes with the page.

(() => {
  "use strict";
  const QUESTIONS = ["times", "longer", "token"];

  function advice(data, ...answers) {
    return data[answers.join(" ")];
  }

  function redraw(view, state, data) {
    const found = advice(data, ...QUESTIONS.map((key) => state[key]));
    for (const key of QUESTIONS) {
      const list = view.root.querySelector(`[data-key="${key}"]`);
      view.part(`answer-${key}`).textContent = list.selectedOptions[0].textContent;
      view.set(view.part(`box-${key}`), { class: found.decided === key ? "turn" : "quiet" });
    }
    view.part("use").textContent = found.use;
    return `Use ${found.use}. ${found.why} To test it, ${found.test}`;
  }

  window.posencExplorables.define("chooser", { functions: { advice }, redraw });
})();
