// The places and the dials of `clocks.py`.

(() => {
  "use strict";
  const PERIODS = [16, 8, 4, 2];
  const [LEFT, STEP, RADIUS, LAST] = [20, 20, 36, 15.9];

  const angle = (place, period) => (360 * (place % period)) / period;
  const half = (place, period) => (place % period >= period / 2 ? 1 : 0);

  function redraw(view, { place }) {
    view.set(view.part("mark"), { cx: LEFT + STEP * place });
    PERIODS.forEach((period, i) => {
      const bit = half(place, period);
      view.set(view.part(`half-${i}`), { opacity: bit });
      view.set(view.part(`hand-${i}`), { transform: `rotate(${-angle(place, period)})` });
      view.part(`bit-${i}`).textContent = bit;
    });
    const read = PERIODS.map((period) => half(place, period)).join(" ");
    const flips = PERIODS.filter((p) => half(place, p) !== half(place + 1, p)).length;
    const some = flips === 1 ? "1 bit jumps" : `${flips} bits jump`;
    return (
      `At place ${place.toFixed(1)} the dials read ${read}, which is ${Math.floor(place)} in bits. ` +
      `One place on, ${some}; the slowest hand glides by 22.5°, as always.`
    );
  }

  // The place after the line, or the rim of a dial, was dragged by so much.
  function dragged(grip, by, { place }) {
    const period = PERIODS[grip];
    const steps = grip === "line" ? by / STEP : (by / (2 * Math.PI * RADIUS)) * period;
    const there = Math.round(10 * (place + steps)) / 10;
    return { place: Math.min(Math.max(there, 0), LAST) };
  }

  const functions = { angle, half, dragged };
  window.posencExplorables.define("clocks", { functions, redraw, drag: dragged });
})();
