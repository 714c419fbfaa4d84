// The map of `doors.py`.

(() => {
  "use strict";
  const [SLOPE, NEXT, BASE] = [0.5, 0.3, 10000];

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const times = (a, b) => a.map((row) => b[0].map((_, j) => dot(row, b.map((r) => r[j]))));

  // Turns pairs (0, 1), (2, 3), ... of a row by its place times the pair's frequency.
  function turned(rows) {
    return rows.map((row, place) =>
      row.map((value, j) => {
        const i = j >> 1;
        const angle = place * BASE ** ((-2 * i) / row.length);
        const [a, b] = [row[2 * i], row[2 * i + 1]];
        return j % 2
          ? a * Math.sin(angle) + b * Math.cos(angle)
          : a * Math.cos(angle) - b * Math.sin(angle);
      }),
    );
  }

  function weights(q, k, rope, alibi, erpe) {
    if (rope) [q, k] = [turned(q), turned(k)];
    return q.map((query, i) => {
      const scores = k.map((key, j) => {
        const score = dot(query, key) / Math.sqrt(query.length);
        return alibi ? score - SLOPE * Math.abs(i - j) : score;
      });
      const top = Math.max(...scores);
      const grown = scores.map((score) => Math.exp(score - top));
      const sum = grown.reduce((a, b) => a + b);
      return grown.map((value, j) => value / sum + (erpe && j === i + 1 ? NEXT : 0));
    });
  }

  function redraw(view, state, data) {
    const x =
      state.embed === "sinusoid"
        ? data.x.map((row, i) => row.map((value, j) => value + data.table[i][j]))
        : data.x;
    const open = (door) => state[door] !== "shut";
    const q = times(x, data.q);
    const found = weights(q, times(x, data.k), open("rotate"), open("bias"), open("mix"));
    found.forEach((row, i) =>
      row.forEach((weight, j) => {
        const opacity = Math.sqrt(weight / (1 + NEXT)).toFixed(3);
        view.set(view.part(`cell-${i}-${j}`), { "fill-opacity": opacity });
      }),
    );
    const apart = Math.max(...found[1].map((weight, j) => Math.abs(weight - found[4][j])));
    const opened = Object.keys(state).filter(open);
    const said = opened.length ? `Open: ${opened.join(", ")}.` : "All doors are shut.";
    return (
      `${said} The rows of the first and the second “rose” differ by at most ${apart.toFixed(2)}.`
    );
  }

  window.posencExplorables.define("doors", { functions: { turned, weights }, redraw });
})();
