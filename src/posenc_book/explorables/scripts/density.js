// The density and the spikes of `density.py`.

(() => {
  "use strict";
  const D = 256;
  const PLACES = [5, 40, 75];
  const BANDWIDTH = (4 * 2 * Math.PI) / D;
  const [LEFT, WIDTH, BASE, HEIGHT, ZERO, UNIT] = [20, 330, 92, 750, 226, 110];

  function geometric(dModel, base) {
    return Array.from({ length: dModel / 2 }, (_, i) => base ** ((-2 * i) / dModel));
  }

  // A Gaussian kernel at every Fourier frequency, normalised to sum 1.
  function density(omega, d, bandwidth) {
    const found = Array.from({ length: d / 2 + 1 }, (_, k) => {
      const at = (2 * Math.PI * k) / d;
      return omega.reduce((sum, w) => sum + Math.exp(-0.5 * ((at - w) / bandwidth) ** 2), 0);
    });
    const total = found.reduce((a, b) => a + b);
    return found.map((value) => value / total);
  }

  const skewed = {}; // by base: the part that the slider does not change
  function spread(even, base) {
    skewed[base] ??= density(geometric(D, base), D, BANDWIDTH);
    const flat = (k) => (k % (D / 2) ? 2 / D : 1 / D);
    return skewed[base].map((share, k) => (1 - even / 100) * share + (even / 100) * flat(k));
  }

  const COSINES = Array.from({ length: D }, (_, j) => Math.cos((2 * Math.PI * j) / D));

  // Algorithm 1 on the spike at 0: a sum of waves, each as heavy as its share, brought to norm 1.
  function kernel(shares) {
    const half = Array.from({ length: D / 2 + 1 }, (_, t) =>
      shares.reduce((sum, g, k) => sum + (k % (D / 2) ? 2 : 1) * g * COSINES[(k * t) % D], 0),
    );
    const found = Array.from({ length: D }, (_, t) => half[Math.min(t, D - t)]);
    const norm = Math.hypot(...found);
    return found.map((value) => value / norm);
  }

  const width = (found) => 2 * found.findIndex((value) => value < found[0] / 2) - 1;

  function redraw(view, { even, base }) {
    const shares = spread(even, Number(base));
    const found = kernel(shares);
    const hill = shares.map(
      (share, k) => `${LEFT + (k * WIDTH) / (D / 2)} ${(BASE - HEIGHT * share).toFixed(1)}`,
    );
    const spikes = PLACES.map((place) => {
      const points = found.map((_, t) => {
        const y = ZERO - UNIT * found[(t - place + D) % D];
        return `${(LEFT + (t * WIDTH) / (D - 1)).toFixed(1)} ${y.toFixed(1)}`;
      });
      return `M${points.join("L")}`;
    });
    view.set(view.part("hill"), { d: `M${LEFT} ${BASE}L${hill.join("L")}V${BASE}z` });
    view.set(view.part("spikes"), { d: spikes.join("") });
    const rest = even === 100 ? "" : `, the others as the sinusoid's with base ${base}`;
    return (
      `${even} % of the waves are spread evenly${rest}. A spike comes back ` +
      `${found[0].toFixed(2)} high, and is ${width(found)} position${width(found) === 1 ? "" : "s"} ` +
      "wide at half of its height. Its top stays where it was."
    );
  }

  const functions = { density, geometric, spread, kernel };
  window.posencExplorables.define("density", { functions, redraw });
})();
