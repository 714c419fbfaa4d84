// The lines of `kernels.py`: formulas here, what was learned comes with the page.

(() => {
  "use strict";
  const [N_HEADS, APART] = [2, 4];
  const [LEFT, WIDTH, HIGH] = [44, 304, 92];
  const TOPS = { before: 26, after: 156 };

  const offsets = (length) => Array.from({ length: 2 * length - 1 }, (_, i) => i + 1 - length);
  const place = (offset, length) => LEFT + (WIDTH * (offset + length - 1)) / (2 * length - 2);
  const frequencies = (d) => Array.from({ length: d / 2 }, (_, i) => 10000 ** ((-2 * i) / d));

  // A sum of cosines, which is what products of rows of sines and cosines are.
  function waves(omega, length, width) {
    const score = (k) => omega.reduce((sum, w) => sum + Math.cos(w * k), 0) / Math.sqrt(width);
    return offsets(length).map(score);
  }

  // Beyond the width the rows are no basis any more, and products depend on the place: a mean.
  function dft(length, width) {
    const n = Math.max(length, width);
    const last = n === width ? 0.5 : 1;
    const inner = Array.from({ length: width / 2 - 1 }, (_, k) => k + 1);
    const wave = (k, t) => Math.cos((2 * Math.PI * ((k * t) % n)) / n);
    return offsets(length).map((k) => {
      const shared = 1 + 2 * inner.reduce((sum, i) => sum + wave(i, Math.abs(k)), 0);
      let sum = 0;
      const pairs = length - Math.abs(k);
      for (let t = 0; t < pairs; t++) {
        sum += wave(width / 2, t) * wave(width / 2, t + Math.abs(k));
      }
      return (shared + (2 * last * sum) / pairs) / n / Math.sqrt(width);
    });
  }

  function byFormula(encoding, length, width) {
    if (encoding === "alibi") {
      const slopes = [1, 2].map((h) => 2 ** ((-8 * h) / N_HEADS));
      return slopes.map((slope) => offsets(length).map((k) => -slope * Math.abs(k)));
    }
    if (encoding === "dft") return [dft(length, width)];
    const d = encoding === "rotary" ? width / N_HEADS : width;
    const faster = encoding === "tape" ? width / length : 1;
    return [waves(frequencies(d).map((w) => w * faster), length, d)];
  }

  function curve(line, low, high, top) {
    const length = (line.length + 1) / 2;
    const points = line.map((value, i) => {
      const y = top + (HIGH * (high - value)) / (high - low || 1);
      return `${place(i + 1 - length, length).toFixed(1)} ${y.toFixed(1)}`;
    });
    return `M${points.join("L")}`;
  }

  function said(value) {
    const words = Math.abs(value).toFixed(2);
    return value < 0 && Number(words) ? `−${words}` : words;
  }

  const signed = (offset) => String(offset).replace("-", "−");

  function redraw(view, state, data) {
    const length = Number(state.length);
    const key = `${state.encoding} ${state.length} ${state.width}`;
    const unit = state.encoding === "erpe" ? 0.001 : 0.01;
    const stored = (when) => data[when][key].map((line) => line.map((value) => value * unit));
    const lines = {
      before: data.before[key]
        ? stored("before")
        : byFormula(state.encoding, length, Number(state.width)),
      after: stored("after"),
    };
    for (const [when, top] of Object.entries(TOPS)) {
      const [low, high] = [Math.min(...lines[when].flat()), Math.max(...lines[when].flat())];
      for (let head = 0; head < N_HEADS; head++) {
        const line = lines[when][Math.min(head, lines[when].length - 1)];
        view.set(view.part(`${when}-${head}`), { d: curve(line, low, high, top) });
      }
      view.part(`${when}-high`).textContent = said(high);
      view.part(`${when}-low`).textContent = said(low);
    }
    [APART - length, -APART, 0, APART, length - APART].forEach((offset, i) => {
      const x = place(offset, length);
      view.set(view.part(`mark-${i}`), { x1: x, x2: x });
    });
    view.part("first").textContent = signed(1 - length);
    view.part("last").textContent = length - 1;
    const spread = (line) => Math.max(...line) - Math.min(...line);
    const line = data.after[key].reduce((a, b) => (spread(b) > spread(a) ? b : a));
    const [high, low] = [Math.max(...line), Math.min(...line)].map(
      (value) => line.indexOf(value) + 1 - length,
    );
    const what = state.encoding === "erpe" ? "added weights" : "scores";
    return (
      `${data.names[state.encoding]}, ${length} positions: trained at width ` +
      `${state.width}, the model is right in ${data.right[key]} % of test series. In its ` +
      `clearer head ${what} are highest at offset ${signed(high)} and lowest at offset ` +
      `${signed(low)}.`
    );
  }

  window.posencExplorables.define("kernels", { functions: { byFormula }, redraw });
})();
