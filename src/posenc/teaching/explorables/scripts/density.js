// The bars of `density.py`.

(() => {
  "use strict";
  const D = 64;
  const [BASE, HEIGHT, FULL] = [190, 280, 0.6];

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

  function redraw(view, state) {
    const shares = density(geometric(D, Number(state.base)), D, (state.sigma * 2 * Math.PI) / D);
    shares.forEach((share, k) => {
      const height = HEIGHT * Math.min(FULL, share);
      view.set(view.part(`bar-${k}`), { y: BASE - height, height });
    });
    const low = 100 * shares.slice(0, 4).reduce((a, b) => a + b);
    const flat = (100 * 3.5 * 2) / D;
    return (
      `With base ${state.base}, ${low.toFixed(0)} % lie at the four lowest of ${D / 2 + 1} ` +
      `frequencies; of the DFT encoding it is ${flat.toFixed(0)} %.`
    );
  }

  window.posencExplorables.define("density", { functions: { density, geometric }, redraw });
})();
