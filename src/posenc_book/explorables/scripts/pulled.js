// The text and the dials of `pulled.py`.

(() => {
  "use strict";
  const [TRAINED, LONGEST, RADIUS, TURN] = [32, 128, 30, 2 * Math.PI];
  const [LEFT, TILE, ROW, TOP] = [20, 10, 36, 18];

  function right(length, said, spoken) {
    const hits = (from, to) =>
      [...spoken].filter((one, i) => i >= from && i < to && one === said[i]).length;
    return [hits(0, TRAINED), hits(TRAINED, length)];
  }

  const turned = (trained, now, length) =>
    [trained * TRAINED, now * length].map((angle) => Math.min(angle, TURN));

  function arc(start, until) {
    const end = Math.min(until, TURN - 1e-3);
    if (end <= start + 1e-9) return "M0 0";
    const [from, to] = [start, end].map(
      (a) => `${(RADIUS * Math.cos(a)).toFixed(2)} ${(-RADIUS * Math.sin(a)).toFixed(2)}`,
    );
    return `M${from}A${RADIUS} ${RADIUS} 0 ${end - start > Math.PI ? 1 : 0} 0 ${to}`;
  }

  function frames(length, said, spoken, hit) {
    let path = "M0 0";
    for (let i = 1; i < length; i += 1) {
      if ((said[i] === spoken[i]) !== hit || spoken[i] === " ") continue;
      const row = Math.floor(i / TRAINED);
      const y = TOP + ROW * row + (row > 0 ? 24 : 12);
      path += `M${LEFT + TILE * (i % TRAINED) + 1} ${y}h8v13h-8z`;
    }
    return path;
  }

  const degrees = (radians) => Math.round((radians * 180) / Math.PI);

  function redraw(view, { length, mend }, data) {
    const [said, spoken, omega] = [data.said[mend], data.spoken, data.hands[mend]];
    view.set(view.part("right"), { d: frames(length, said, spoken, true) });
    view.set(view.part("wrong"), { d: frames(length, said, spoken, false) });
    for (let row = 0; row < LONGEST / TRAINED; row += 1) {
      const [start, end] = [TRAINED * row, Math.min(TRAINED * (row + 1), length)];
      view.part(`text-${row}`).textContent = data.text.slice(start, end);
      view.part(`said-${row}`).textContent = said.slice(start, end);
    }
    omega.forEach((now, i) => {
      const [shown, reached] = turned(data.hands.none[i], now, length);
      view.set(view.part(`arc-${i}`), { d: arc(shown, reached) });
      const angle = (-now * length * 360) / TURN;
      view.set(view.part(`hand-${i}`), { transform: `rotate(${angle})` });
    });
    const [first, later] = right(length, said, spoken);
    const beyond = length > TRAINED ? `, and ${later} of the ${length - TRAINED} after them` : "";
    const shown = degrees(data.hands.none[1] * TRAINED);
    return (
      `${length} letters, ${data.names[mend]}: right at ${first} of the first ${TRAINED - 1} ` +
      `places${beyond}. The second hand reaches ${degrees(omega[1] * length)}°; training ` +
      `showed it ${shown}°.`
    );
  }

  // A drag across the whole drawing is a little more than all that can be pulled.
  function dragged(grip, by, { length, mend }) {
    const pulled = length + Math.round(0.3 * by);
    return { length: Math.min(Math.max(pulled, TRAINED), LONGEST), mend };
  }

  const functions = { right, turned, arc, frames, dragged };
  window.posencExplorables.define("pulled", { functions, redraw, drag: dragged });
})();
