// The text, the dial and the bar of `two_hands.py`.

(() => {
  "use strict";
  const [OMEGA, AHEAD] = [0.4, 1.2];
  const [LEFT, TILE, TOP, HEIGHT] = [20, 10, 40, 20];
  const RADIUS = 62;
  const [ZERO, UNIT, BAR] = [270, 70, 164];
  const [FIRST, LAST, FARTHEST] = [8, 23, 8]; // of the controls

  const angles = (place, offset) => [OMEGA * place, OMEGA * (place + offset) + AHEAD];
  const score = (offset) => Math.cos(OMEGA * offset + AHEAD);
  const apart = (offset) => (Math.acos(score(offset)) * 180) / Math.PI;
  const moved = (place, y) => `translate(${LEFT + TILE * (place + 0.5)} ${y})`;

  function between(place, key) {
    const [start, end] = [Math.min(place, key), Math.max(place, key)];
    const width = TILE * (end - start + 1);
    return `M${LEFT + TILE * start} ${TOP}h${width}v${HEIGHT}h${-width}z`;
  }

  function sector(start, end) {
    const r = RADIUS / 2;
    const turn = end - start - 2 * Math.PI * Math.round((end - start) / (2 * Math.PI));
    const [from, to] = [start, start + turn].map((a) => `${r * Math.cos(a)} ${-r * Math.sin(a)}`);
    return `M0 0L${from}A${r} ${r} 0 0 ${turn < 0 ? 1 : 0} ${to}Z`;
  }

  function where(offset) {
    if (offset === 0) return "at its own place";
    const steps = Math.abs(offset) === 1 ? "1 place" : `${Math.abs(offset)} places`;
    return `${steps} ${offset < 0 ? "before" : "after"} it`;
  }

  function redraw(view, { place, offset }) {
    const [query, key] = angles(place, offset);
    view.set(view.part("between"), { d: between(place, place + offset) });
    view.set(view.part("query"), { transform: moved(place, TOP) });
    view.set(view.part("key"), { transform: moved(place + offset, TOP + HEIGHT) });
    view.set(view.part("angle"), { d: sector(query, key) });
    for (const [name, angle] of [["query", query], ["key", key]]) {
      view.set(view.part(`${name}-hand`), { transform: `rotate(${(-angle * 180) / Math.PI})` });
    }
    const said = score(offset).toFixed(2);
    view.set(view.part("bar"), { d: `M${ZERO} ${BAR}h${UNIT * score(offset)}v16H${ZERO}z` });
    view.part("score").textContent = `score ${said}`;
    return (
      `The query stands at place ${place}, the key ${where(offset)}. Between their hands are ` +
      `${apart(offset).toFixed(1)}°, so the score is ${said}. It is the same wherever the two stand.`
    );
  }

  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // What the controls become where one of the marks, or the text under both, is dragged by so much.
  function dragged(grip, by, { place, offset }) {
    const steps = Math.round(by / TILE);
    if (grip === "both") return { place: clamp(place + steps, FIRST, LAST), offset };
    if (grip === "key") return { place, offset: clamp(offset + steps, -FARTHEST, FARTHEST) };
    const key = place + offset;
    const [low, high] = [Math.max(FIRST, key - FARTHEST), Math.min(LAST, key + FARTHEST)];
    const query = clamp(place + steps, low, high);
    return { place: query, offset: key - query };
  }

  const functions = { angles, score, dragged };
  window.posencExplorables.define("two-hands", { functions, redraw, drag: dragged });
})();
