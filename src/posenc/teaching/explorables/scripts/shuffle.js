// The sentence and the bars of `shuffle.py`.

(() => {
  "use strict";
  const WORDS = ["only", "Alice", "helped", "Bob"];
  const [BAR, BASE] = [38, 146];

  const times = (a, b) => a.map((row) => b[0].map((_, j) => dot(row, b.map((r) => r[j]))));
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const plus = (a, b) => a.map((row, i) => row.map((value, j) => value + b[i][j]));

  function softmax(row) {
    const top = Math.max(...row);
    const grown = row.map((score) => Math.exp(score - top));
    const sum = grown.reduce((a, b) => a + b);
    return grown.map((value) => value / sum);
  }

  // One head: rows of x to rows of the same length.
  function attention(x, wQ, wK, wV) {
    const [q, k, v] = [wQ, wK, wV].map((w) => times(x, w));
    const root = Math.sqrt(x[0].length);
    return times(q.map((query) => softmax(k.map((key) => dot(query, key) / root))), v);
  }

  function pooled(order, positions, data) {
    const words = order.map((i) => data.x[i]);
    const x = positions === "sinusoid" ? plus(words, data.table) : words;
    const out = attention(x, data.q, data.k, data.v);
    return out[0].map((_, j) => out.reduce((sum, row) => sum + row[j], 0) / out.length);
  }

  function bar(i, value, scale) {
    const height = Math.abs(value) * scale;
    const y = value > 0 ? BASE - height : BASE;
    return { x: 24 + 40 * i, y, width: BAR - 8, height };
  }

  function redraw(view, state, data) {
    const order = data.orders[state.order];
    const first = pooled(data.orders[0], state.positions, data);
    const now = pooled(order, state.positions, data);
    order.forEach((word, i) => (view.part(`word-${i}`).textContent = WORDS[word]));
    now.forEach((value, i) => view.set(view.part(`now-${i}`), bar(i, value, data.scale)));
    first.forEach((value, i) => view.set(view.part(`first-${i}`), bar(i, value, data.scale)));
    const moved = Math.max(...now.map((value, i) => Math.abs(value - first[i])));
    const how = state.positions === "none" ? "Without positions" : "With positions";
    const said = order.map((word) => WORDS[word]).join(" ");
    const sentence = said[0].toUpperCase() + said.slice(1);
    return `“${sentence}.” ${how} the largest change of a bar is ${moved.toFixed(2)}.`;
  }

  window.posencExplorables.define("shuffle", { functions: { attention }, redraw });
})();
