// The bars of `two_sentences.py`, which holds the numbers of every state.

(() => {
  "use strict";
  const WORDS = ["Alice", "helped", "Bob"];
  const [BAR, BASE] = [30, 72];

  const numbers = (data, order, positions) => data.every[`${order} ${positions}`];

  function bar(i, value, scale) {
    const height = Math.abs(value) * scale;
    const y = value > 0 ? BASE - height : BASE;
    return { x: 25 + 40 * i, y, width: BAR, height };
  }

  function sentence(order) {
    const said = [...order].map((word) => WORDS[word]).join(" ");
    return `${said[0].toUpperCase()}${said.slice(1)}.`;
  }

  function redraw(view, state, data) {
    const [first, second] = ["first", "second"].map((which) => {
      const found = numbers(data, state[which], state.positions);
      found.forEach((one, i) => view.set(view.part(`${which}-${i}`), bar(i, one, data.scale)));
      return found;
    });
    const both = `“${sentence(state.first)}” “${sentence(state.second)}”`;
    if (state.first === state.second) {
      return (
        `“${sentence(state.first)}” twice: the same words in the same order, ` +
        "so every pair of bars agrees."
      );
    }
    if (state.positions === "off") {
      return `${both} Without positions, attention makes the same eight numbers of both.`;
    }
    const apart = Math.max(...first.map((one, i) => Math.abs(one - second[i]))).toFixed(2);
    return (
      `${both} With positions it makes different numbers, up to ${apart} apart: ` +
      "now a model can learn who helped whom."
    );
  }

  window.posencExplorables.define("two-sentences", { functions: { numbers }, redraw });
})();
