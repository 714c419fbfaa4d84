// The sentence and the bars of `shuffle.py`.

(() => {
  "use strict";
  const WORDS = ["Alice", "never", "helped", "Bob"];
  const [BAR, BASE, SCALE] = [38, 150, 60];

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

  // The index-th order of n things, as itertools.permutations lists them.
  function permutation(n, index) {
    const left = Array.from({ length: n }, (_, i) => i);
    const order = [];
    let block = left.reduce((product, i) => product * (i + 1), 1);
    for (let places = n; places > 0; places--) {
      block /= places;
      order.push(...left.splice(Math.floor(index / block), 1));
      index %= block;
    }
    return order;
  }

  function pooled(order, positions, data) {
    const words = order.map((i) => data.x[i]);
    const x = positions === "sinusoid" ? plus(words, data.table) : words;
    const out = attention(x, data.q, data.k, data.v);
    return out[0].map((_, j) => out.reduce((sum, row) => sum + row[j], 0) / out.length);
  }

  function bar(i, value) {
    const height = Math.abs(value) * SCALE;
    const y = value > 0 ? BASE - height : BASE;
    return { x: 24 + 40 * i, y, width: BAR - 8, height };
  }

  function redraw(view, state, data) {
    const order = permutation(WORDS.length, state.order);
    const first = pooled([0, 1, 2, 3], state.positions, data);
    const now = pooled(order, state.positions, data);
    order.forEach((word, i) => (view.part(`word-${i}`).textContent = WORDS[word]));
    now.forEach((value, i) => view.set(view.part(`now-${i}`), bar(i, value)));
    first.forEach((value, i) => view.set(view.part(`first-${i}`), bar(i, value)));
    const moved = Math.max(...now.map((value, i) => Math.abs(value - first[i])));
    const how = state.positions === "none" ? "Without positions" : "With positions";
    const said = order.map((word) => WORDS[word]).join(" ");
    return `“${said}.” ${how} the largest change of a bar is ${moved.toFixed(2)}.`;
  }

  window.posencExplorables.define("shuffle", { functions: { attention, permutation }, redraw });
})();
