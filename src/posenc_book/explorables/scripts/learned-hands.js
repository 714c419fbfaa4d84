// The places and the dials of `learned_hands.py`.

(() => {
  "use strict";
  const [FIRST, LAST, LEFT, WIDTH, RADIUS] = [1, 510, 20, 320, 30];

  const reach = (length) => Math.min(0.26 * length, RADIUS + 4);

  function turn(angles, place) {
    const by = angles[place - FIRST] - angles[place - FIRST - 1];
    return by - 360 * Math.round(by / 360);
  }

  function redraw(view, { place }, { angles, lengths, speeds }) {
    view.set(view.part("mark"), { cx: LEFT + (WIDTH * (place - FIRST)) / (LAST - FIRST) });
    speeds.forEach((speed, i) => {
      const [before, now] = [angles[i][place - FIRST - 1], angles[i][place - FIRST]];
      const x2 = reach(lengths[i][place - FIRST]);
      view.set(view.part(`expected-${i}`), { transform: `rotate(${-before - speed})` });
      view.set(view.part(`hand-${i}`), { transform: `rotate(${-now})`, x2 });
    });
    const turned = speeds.map((_, i) => turn(angles[i], place));
    const worst = Math.max(...turned.map((by, i) => Math.abs(by - speeds[i])));
    return (
      `From place ${place - 1} to place ${place} the hands turn by ` +
      `${turned.map((by) => `${by.toFixed(0)}°`).join(", ")}. ` +
      `None is more than ${worst.toFixed(0)}° from where the map expects it.`
    );
  }

  // The place after the line was dragged by so much.
  function dragged(_, by, { place }) {
    const there = place + Math.round((by / WIDTH) * (LAST - FIRST));
    return { place: Math.min(Math.max(there, FIRST + 1), LAST) };
  }

  const functions = { turn, dragged };
  window.posencExplorables.define("learned-hands", { functions, redraw, drag: dragged });
})();
