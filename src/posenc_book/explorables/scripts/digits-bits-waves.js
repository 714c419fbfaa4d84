// The rows of `digits_bits_waves.py`: the waves stand still, the marks move.

(() => {
  "use strict";
  const N_BITS = 5;
  const [LEFT, STEP, ROW, TOP, HEIGHT] = [44, 8, 40, 40, 26];

  function bit(position, k) {
    return (position >> k) & 1;
  }

  // Between 0 and 1, high where a bit of this period is 1.
  function wave(t, period) {
    return (1 - Math.sin((2 * Math.PI * (t + 0.5)) / period)) / 2;
  }

  function redraw(view, state) {
    const t = state.position;
    const x = LEFT + (t + 0.5) * STEP;
    view.set(view.part("cursor"), { x1: x, x2: x });
    const binary = t.toString(2).padStart(N_BITS, "0");
    view.part("written").textContent = `t = ${t} in decimal, ${binary} in binary`;
    let flips = 0;
    for (let k = 0; k < N_BITS; k++) {
      const value = wave(t, 2 ** (k + 1));
      const top = TOP + (N_BITS - 1 - k) * ROW;
      view.set(view.part(`dot-${k}`), { cx: x, cy: top + HEIGHT * (1 - value) });
      view.part(`value-${k}`).textContent = `${bit(t, k)} | ${value.toFixed(2)}`;
      flips += bit(t, k) !== bit(t + 1, k);
    }
    const slowest = Math.abs(wave(t + 1, 2 ** N_BITS) - wave(t, 2 ** N_BITS)).toFixed(2);
    return (
      `From ${t} to ${t + 1}, ${flips} of ${N_BITS} bits jump by a whole unit; the slowest wave ` +
      `moves by ${slowest}.`
    );
  }

  window.posencExplorables.define("digits-bits-waves", { functions: { bit, wave }, redraw });
})();
