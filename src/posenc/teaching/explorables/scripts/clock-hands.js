// The dials of `clock_hands.py`.

(() => {
  "use strict";
  const D_MODEL = 16;
  const RADIUS = 36;

  // Radians a step of pair i.
  function frequency(i, dModel, base) {
    return base ** ((-2 * i) / dModel);
  }

  // What the pair holds at a position: [sin, cos].
  function hand(position, i, dModel, base) {
    const angle = position * frequency(i, dModel, base);
    return [Math.sin(angle), Math.cos(angle)];
  }

  function degrees(steps, i, base) {
    const turned = ((steps * frequency(i, D_MODEL, base) * 180) / Math.PI) % 360;
    return turned < 0 ? turned + 360 : turned;
  }

  function sector(start, turn) {
    const r = RADIUS / 2;
    const [a, b] = [start, start + turn].map((angle) => (angle * Math.PI) / 180);
    const from = `${r * Math.cos(a)} ${-r * Math.sin(a)}`;
    const to = `${r * Math.cos(b)} ${-r * Math.sin(b)}`;
    return `M0 0L${from}A${r} ${r} 0 ${turn > 180 ? 1 : 0} 0 ${to}Z`;
  }

  function redraw(view, state) {
    const base = Number(state.base);
    for (let i = 0; i < D_MODEL / 2; i++) {
      const start = degrees(state.position, i, base);
      const turn = degrees(state.offset, i, base);
      view.set(view.part(`turn-${i}`), { d: sector(start, turn) });
      view.set(view.part(`now-${i}`), { transform: `rotate(${-start})` });
      view.set(view.part(`next-${i}`), { transform: `rotate(${-start - turn})` });
    }
    const [first, last, turned] = [
      degrees(state.position, 0, base),
      degrees(state.position, D_MODEL / 2 - 1, base),
      degrees(state.offset, 0, base),
    ].map((angle) => angle.toFixed(1));
    return (
      `At position ${state.position} the fastest hand stands at ${first}° and the slowest at ` +
      `${last}°. ${state.offset} positions further on the fastest has turned by ${turned}°, ` +
      "wherever it started."
    );
  }

  window.posencExplorables.define("clock-hands", { functions: { frequency, hand }, redraw });
})();
