// The row of roses and the dial of `roses.py`.

(() => {
  "use strict";
  const [OMEGA, FIRST, FURTHER, MOST] = [0.4, 0.5, 5, 12];
  const [TILE, RADIUS] = [22, 78]; // of the text, and of the longest arrow

  function arrows(n, way, start) {
    const back = way === "back" ? OMEGA * start : 0;
    const turn = way === "none" ? 0 : OMEGA;
    return Array.from({ length: n }, (_, j) => FIRST + turn * (start + j) - back);
  }

  function mean(n, way, start) {
    const angles = arrows(n, way, start);
    const total = (wave) => angles.reduce((sum, angle) => sum + wave(angle), 0) / n;
    return [total(Math.cos), total(Math.sin)];
  }

  const lengthOfMean = (n) => Math.hypot(...mean(n, "back", 0));
  const ray = ([x, y]) => `M0 0L${RADIUS * x} ${-RADIUS * y}`;

  function told(n, way) {
    const roses = n === 1 ? "1 rose" : `${n} roses`;
    if (way === "none") {
      return (
        `${roses}: the mean is the arrow of a single rose, 1.00 long. It would be so for any ` +
        "number of them, at any place."
      );
    }
    const shown = n === 1 ? "." : ", so the number shows.";
    const number = `${roses}: the mean is ${lengthOfMean(n).toFixed(2)} long${shown}`;
    return way === "values"
      ? `${number} ${FURTHER} places further on it points elsewhere: the place shows.`
      : `${number} ${FURTHER} places further on it is the same arrow: the place does not show.`;
  }

  function redraw(view, { n, way }) {
    for (let i = 0; i < MOST; i += 1) {
      view.set(view.part(`rose-${i}`), { class: i < n ? "fill" : "lone" });
    }
    const rays = arrows(n, way, 0).map((angle) => ray([Math.cos(angle), Math.sin(angle)]));
    view.set(view.part("all"), { d: rays.join("") });
    view.set(view.part("mean"), { d: ray(mean(n, way, 0)) });
    view.set(view.part("moved"), { d: ray(mean(n, way, FURTHER)) });
    return told(n, way);
  }

  // What the number becomes where the end of the row is pulled by so much.
  function dragged(grip, by, { n, way }) {
    return { n: Math.min(Math.max(n + Math.round(by / TILE), 1), MOST), way };
  }

  const functions = { arrows, mean, dragged };
  window.posencExplorables.define("roses", { functions, redraw, drag: dragged });
})();
