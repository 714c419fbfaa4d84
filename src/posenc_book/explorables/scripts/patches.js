// The two series, their cuts and their pieces of `patches.py`.

(() => {
  "use strict";
  const [LENGTH, ZERO, FIRST_WALK] = [50, -1, 100];
  const [LEFT, STEP, GAP] = [20, 6.4, 2];
  const [TOPS, HEIGHT, BAG, BAG_HEIGHT, UNIT] = [[22, 172], 52, 74, 44, 0.8];
  const LIMITS = { patch: [1, 25], cut: [20, 30] };

  const count = (n, first = 0) => Array.from({ length: n }, (_, i) => first + i);

  function pieces(steps, patch) {
    const n = Math.ceil(steps.length / patch);
    return count(n).map((i) => count(patch, i * patch).map((at) => steps[at] ?? ZERO));
  }

  // The pieces of running, then walking, and of walking, then running.
  function both(cut, patch) {
    const [run, walk] = [count(cut), count(LENGTH - cut, FIRST_WALK)];
    return [pieces([...run, ...walk], patch), pieces([...walk, ...run], patch)];
  }

  const kind = (step) => (step === ZERO ? "zero" : step < FIRST_WALK ? "run" : "walk");

  function value(step, { running, walking }) {
    if (step === ZERO) return 0;
    return step < FIRST_WALK ? running[step] : walking[step - FIRST_WALK];
  }

  function heap(some, data) {
    const height = (piece) => piece.reduce((sum, step) => sum + value(step, data), 0);
    return [...some].sort((a, b) => height(a) - height(b) || a[0] - b[0]);
  }

  function curve(wanted, some, data, middle, left, unit, gap) {
    let path = "";
    some.forEach((piece, i) => {
      let joined = false;
      piece.forEach((step, j) => {
        const x = left + (i * piece.length + j) * unit + i * gap;
        if (kind(step) !== wanted || x > LEFT + STEP * LENGTH - 0.01) {
          joined = false;
          return;
        }
        const y = (middle - UNIT * value(step, data)).toFixed(2);
        path += joined ? `V${y}h${unit.toFixed(2)}` : `M${x.toFixed(2)} ${y}h${unit.toFixed(2)}`;
        joined = true;
      });
    });
    return path || "M0 0";
  }

  function cards(some, chosen, top) {
    const wide = (STEP * LENGTH) / some.length;
    const path = some.map((piece, i) => {
      if (!chosen(piece)) return "";
      return `M${LEFT + wide * i + GAP / 2} ${top}h${wide - GAP}v${BAG_HEIGHT}h${GAP - wide}z`;
    });
    return path.join("") || "M0 0";
  }

  function redraw(view, { cut, patch }, data) {
    const series = both(cut, patch);
    const known = series.map((some) => new Set(some.map(String)));
    series.forEach((mine, i) => {
      const [top, bag] = [TOPS[i], TOPS[i] + BAG];
      const sorted = heap(mine, data);
      const shared = (piece) => known[1 - i].has(String(piece));
      view.set(view.part(`twin-${i}`), { d: cards(sorted, shared, bag) });
      view.set(view.part(`lone-${i}`), { d: cards(sorted, (piece) => !shared(piece), bag) });
      const edges = count(Math.ceil(LENGTH / patch) - 1, 1).map(
        (n) => `M${LEFT + STEP * patch * n} ${top}v${HEIGHT}`,
      );
      view.set(view.part(`cuts-${i}`), { d: edges.join("") || "M0 0" });
      const unit = (STEP * LENGTH - GAP * mine.length) / (mine.length * patch);
      for (const one of ["run", "walk", "zero"]) {
        const high = curve(one, mine, data, top + HEIGHT / 2, LEFT, STEP, 0);
        view.set(view.part(`${one}-${i}`), { d: high });
        const low = curve(one, sorted, data, bag + BAG_HEIGHT / 2, LEFT + GAP / 2, unit, GAP);
        view.set(view.part(`${one}-bag-${i}`), { d: low });
      }
    });
    view.set(view.part("patch"), { transform: `translate(${LEFT + STEP * patch} ${TOPS[0]})` });
    view.set(view.part("cut"), { transform: `translate(${LEFT + STEP * cut} ${TOPS[0] + HEIGHT})` });
    const n = series[0].length;
    const shared = [...known[0]].filter((piece) => known[1].has(piece)).length;
    const steps = patch === 1 ? "1 step" : `${patch} steps`;
    const told = `Pieces of ${steps}: each series makes ${n}, and ${shared} of them are in both. `;
    if (shared === n) {
      return `${told}A model without positions must give both series the same answer.`;
    }
    const filled = n * patch - LENGTH;
    return (
      `${told}Even a model without positions can tell the two series apart.` +
      (filled ? ` (The last piece is filled up with ${filled} zeros.)` : "")
    );
  }

  // What the controls become where a knob is dragged by so much.
  function dragged(grip, by, state) {
    const [low, high] = LIMITS[grip];
    const moved = state[grip] + Math.round(by / STEP);
    return { ...state, [grip]: Math.min(Math.max(moved, low), high) };
  }

  window.posencExplorables.define("patches", { functions: { both, dragged }, redraw, drag: dragged });
})();
