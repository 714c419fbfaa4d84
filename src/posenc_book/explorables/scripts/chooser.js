// The questions of `chooser.py`; the advice for every answer comes with the page.

(() => {
  "use strict";
  const QUESTIONS = ["times", "longer", "token"];

  function advice(data, ...answers) {
    return data[answers.join(" ")];
  }

  function redraw(view, state, data) {
    const found = advice(data, ...QUESTIONS.map((key) => state[key]));
    view.set(view.part("mark"), { y: found.y });
    return `Use ${found.use}. ${found.why} To test it, ${found.test}`;
  }

  window.posencExplorables.define("chooser", { functions: { advice }, redraw });
})();
