// The dials of `clock_hands.py`.

(() => {
  "use strict";
  const [D_MODEL, BASE] = [16, 100];
  const LAST = 64; // position
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

  function degrees(steps, i) {
    const turned = ((steps * frequency(i, D_MODEL, BASE) * 180) / Math.PI) % 360;
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
    for (let i = 0; i < D_MODEL / 2; i++) {
      const start = degrees(state.position, i);
      const turn = degrees(state.offset, i);
      view.set(view.part(`turn-${i}`), { d: sector(start, turn) });
      view.set(view.part(`now-${i}`), { transform: `rotate(${-start})` });
      view.set(view.part(`next-${i}`), { transform: `rotate(${-start - turn})` });
    }
    const [first, last, turned] = [
      degrees(state.position, 0),
      degrees(state.position, D_MODEL / 2 - 1),
      degrees(state.offset, 0),
    ].map((angle) => angle.toFixed(1));
    return (
      `At position ${state.position} the fastest hand stands at ${first}° and the slowest at ` +
      `${last}°. ${state.offset} positions further on the fastest has turned by ${turned}°, ` +
      "wherever it started."
    );
  }

  // Where all clocks stand when the hand of one pair is turned by so many radians.
  function dialled(pair, by, { position, offset }) {
    const reached = position + by / frequency(Number(pair), D_MODEL, BASE);
    return { position: Math.min(Math.max(Math.round(4 * reached) / 4, 0), LAST), offset };
  }

  const functions = { frequency, hand, dialled };
  window.posencExplorables.define("clock-hands", { functions, redraw, drag: dialled });
})();
