// The text and the dials of `pulled.py`.

(() => {
  "use strict";
  const [TRAINED, LONGEST, RADIUS, TURN] = [32, 128, 30, 2 * Math.PI];

  function right(length, said, spoken) {
    const hits = (from, to) =>
      [...spoken].filter((one, i) => i >= from && i < to && one === said[i]).length;
    return [hits(0, TRAINED), hits(TRAINED, length)];
  }

  const turned = (trained, now, length) =>
    [trained * (TRAINED - 1), now * (length - 1)].map((angle) => Math.min(angle, TURN));

  function arc(start, until) {
    const end = Math.min(until, TURN - 1e-3);
    if (end <= start + 1e-9) return "M0 0";
    const [from, to] = [start, end].map(
      (a) => `${(RADIUS * Math.cos(a)).toFixed(2)} ${(-RADIUS * Math.sin(a)).toFixed(2)}`,
    );
    return `M${from}A${RADIUS} ${RADIUS} 0 ${end - start > Math.PI ? 1 : 0} 0 ${to}`;
  }

  const degrees = (radians) => Math.round((radians * 180) / Math.PI);

  function redraw(view, { length, mend }, data) {
    const [said, spoken, omega] = [data.said[mend], data.spoken, data.hands[mend]];
    for (let i = 0; i < LONGEST; i += 1) {
      view.set(view.part(`tile-${i}`), { visibility: i < length ? "visible" : "hidden" });
      if (spoken[i] === " ") continue;
      view.set(view.part(`frame-${i}`), { class: said[i] === spoken[i] ? "turn" : "next solid" });
      view.part(`said-${i}`).textContent = said[i];
    }
    omega.forEach((now, i) => {
      const [shown, reached] = turned(data.hands.none[i], now, length);
      view.set(view.part(`arc-${i}`), { d: arc(shown, reached) });
      const angle = (-now * (length - 1) * 360) / TURN;
      view.set(view.part(`hand-${i}`), { transform: `rotate(${angle})` });
    });
    const [first, later] = right(length, said, spoken);
    const beyond = length > TRAINED ? `, and ${later} of the ${length - TRAINED} after them` : "";
    const shown = degrees(data.hands.none[1] * (TRAINED - 1));
    return (
      `${length} letters, ${data.names[mend]}: right at ${first} of the first ${TRAINED - 1} ` +
      `places${beyond}. The second hand reaches ${degrees(omega[1] * (length - 1))}°; training ` +
      `showed it ${shown}°.`
    );
  }

  // A drag across the whole drawing is a little more than all that can be pulled.
  function dragged(grip, by, { length, mend }) {
    const pulled = length + Math.round(0.3 * by);
    return { length: Math.min(Math.max(pulled, TRAINED), LONGEST), mend };
  }

  const functions = { right, turned, arc, dragged };
  window.posencExplorables.define("pulled", { functions, redraw, drag: dragged });
})();
