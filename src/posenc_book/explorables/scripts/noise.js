// The bars of `noise.py`; what the noise adds to each comes with the page.

(() => {
  "use strict";
  const [N, SENT] = [64, 24];
  const CODES = { sinusoid: "sinusoid", dft: "DFT encoding" };
  const [LEFT, STEP, UNIT] = [20, 5, 34];
  const ZEROS = { sinusoid: 96, dft: 250 };
  const MOST = 3; // of the noise

  const OMEGA = Array.from({ length: N / 2 }, (_, i) => 10000 ** ((-2 * i) / N));
  const alike = {
    sinusoid: (steps) => OMEGA.reduce((sum, w) => sum + Math.cos(w * steps), 0) / OMEGA.length,
    dft: (steps) => (steps === 0 ? 1 : 0),
  };

  function scores(code, noise, draw, data) {
    const pushes = data[code][draw - 1];
    return pushes.map((push, t) => alike[code](t - SENT) + (noise / Math.sqrt(N)) * (push / 10000));
  }

  function judged(answer) {
    const off = Math.abs(answer - SENT);
    return off === 0 ? "which is right" : `${off} position${off === 1 ? "" : "s"} off`;
  }

  function redraw(view, { noise, draw }, data) {
    const middle = (t) => LEFT + STEP * (t + 0.5);
    const said = Object.entries(ZEROS).map(([code, zero]) => {
      const found = scores(code, noise, draw, data);
      const answer = found.indexOf(Math.max(...found));
      const bars = found.map((y, t) => `M${middle(t)} ${zero}V${(zero - UNIT * y).toFixed(1)}`);
      view.set(view.part(`bars-${code}`), { d: bars.join("") });
      view.set(view.part(`top-${code}`), { cx: middle(answer), cy: zero - UNIT * found[answer] });
      view.part(`says-${code}`).textContent = `says ${answer}`;
      return `The ${CODES[code]} says ${answer}, ${judged(answer)}.`;
    });
    return `The noise is ${noise.toFixed(2)} times as long as the code. ${said.join(" ")}`;
  }

  // Sideways is louder or quieter: the whole picture for the whole range.
  function dragged(grip, by, { noise, draw }) {
    const louder = Math.round(20 * (noise + (MOST * by) / (STEP * N))) / 20;
    return { noise: Math.min(Math.max(louder, 0), MOST), draw };
  }

  window.posencExplorables.define("noise", { functions: { scores, dragged }, redraw, drag: dragged });
})();
