// The sentence and the bars of `shuffle.py`.

(() => {
  "use strict";
  const WORDS = ["Alice", "helped", "Bob"];
  const FIRST = "012";
  const HOW = {
    all: "Each word sees all words.",
    back: "Each word sees only the words up to itself.",
    numbered: "The words are numbered.",
  };
  const [LEFT, COLUMN, BAR, BASE] = [10, 90, 13, 122];

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const times = (a, b) => a.map((row) => b[0].map((_, j) => dot(row, b.map((r) => r[j]))));
  const mean = (rows) => rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);

  function softmax(row) {
    const top = Math.max(...row);
    const grown = row.map((score) => Math.exp(score - top));
    const sum = grown.reduce((a, b) => a + b);
    return grown.map((value) => value / sum);
  }

  // One head: rows of x to rows of the same length.
  function attention(x, wQ, wK, wV, causal) {
    const [q, k, v] = [wQ, wK, wV].map((w) => times(x, w));
    const root = Math.sqrt(x[0].length);
    const score = (i) => k.map((key, j) => (causal && j > i ? -Infinity : dot(q[i], key) / root));
    return times(q.map((_, i) => softmax(score(i))), v);
  }

  // What the words take away, and their mean.
  function columns(sentence, rule, data) {
    const words = [...sentence].map((word) => data.x[word]);
    const x = rule === "numbered" ? words.map((row, t) => row.map((one) => one + t)) : words;
    const rows = attention(x, data.q, data.k, data.v, rule === "back");
    return [...rows, mean(rows)];
  }

  function bar(slot, i, value, scale) {
    const height = Math.abs(value) * scale;
    const y = value > 0 ? BASE - height : BASE;
    return { x: LEFT + COLUMN * slot + 2 + BAR * i, y, width: BAR - 2, height };
  }

  const listed = (words) => `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

  function redraw(view, { sentence, rule }, data) {
    const now = columns(sentence, rule, data);
    const first = columns(FIRST, rule, data);
    const before = [...sentence, 3].map((word) => first[word]);
    now.forEach((row, slot) =>
      row.forEach((value, i) => {
        view.set(view.part(`now-${slot}-${i}`), bar(slot, i, value, data.scale));
        view.set(view.part(`first-${slot}-${i}`), bar(slot, i, before[slot][i], data.scale));
      }),
    );
    const words = [...sentence].map((word) => WORDS[word]);
    words.forEach((word, slot) => (view.part(`word-${slot}`).textContent = word));
    const moved = words.filter((_, slot) =>
      now[slot].some((one, i) => Math.abs(one - before[slot][i]) > 1e-9),
    );
    const said = words.join(" ");
    if (sentence === FIRST) return `“${said}.” ${HOW[rule]} Now move a word.`;
    const bars = moved.length
      ? `The bars of ${listed(moved)} have changed, and so has the mean.`
      : "Each word has the same bars as in the first sentence, and so has the mean.";
    return `“${said[0].toUpperCase()}${said.slice(1)}.” ${HOW[rule]} ${bars}`;
  }

  // The sentence in which the word that is dragged stands so many columns farther on.
  function dragged(grip, by, { sentence, rule }) {
    const words = [...sentence];
    const [word] = words.splice(Number(grip), 1);
    const slot = Math.min(Math.max(Number(grip) + Math.round(by / COLUMN), 0), 2);
    words.splice(slot, 0, word);
    return { sentence: words.join(""), rule };
  }

  const functions = { attention, dragged };
  window.posencExplorables.define("shuffle", { functions, redraw, drag: dragged });
})();
