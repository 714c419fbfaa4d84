// The dots of `trained_again.py`; names and accuracies come with the page.

(() => {
  "use strict";
  const [N_DRAWS, N_SEEDS, MODULUS] = [60, 5, 65537];
  const [LEFT, WIDTH, TOP, ROW] = [138, 204, 12, 19];
  const [LOW, HIGH] = [76, 98];
  const PULL = 8; // pixels of the drawing for one draw

  function choices(draw, n) {
    let x = (7919 * draw) % MODULUS;
    const found = Array.from({ length: n + 5 }, () => {
      x = (75 * x + 74) % MODULUS;
      return Math.floor((N_SEEDS * x) / MODULUS);
    });
    return found.slice(5);
  }

  // The mean accuracy of some trainings of each row, drawn with return.
  function drawn(draw, runs, scores) {
    const at = choices(draw, scores.length * runs);
    return scores.map((row, i) => {
      const some = at.slice(i * runs, (i + 1) * runs);
      return some.reduce((sum, j) => sum + row[j], 0) / runs;
    });
  }

  function first(means) {
    const best = Math.max(...means);
    return means.flatMap((mean, i) => (mean > best - 1e-6 ? [i] : []));
  }

  function redraw(view, { draw, runs }, { names, scores }) {
    const means = drawn(draw, runs, scores);
    const best = first(means);
    means.forEach((mean, i) => {
      const cx = LEFT + (WIDTH * (mean - LOW)) / (HIGH - LOW);
      view.set(view.part(`dot-${i}`), { cx });
      const around = best.includes(i) ? `M2 ${TOP + ROW * i}h356v${ROW}h-356z` : "";
      view.set(view.part(`best-${i}`), { d: around });
    });
    const ever = new Set();
    for (let one = 1; one <= N_DRAWS; one++) {
      first(drawn(one, runs, scores)).forEach((i) => ever.add(i));
    }
    const who = best.map((i) => names[i]).join(" and ");
    const wins = best.length === 1 ? "wins" : "share the first place";
    const what = runs === 1 ? "one training each" : `the mean of ${runs} trainings each`;
    return (
      `Draw ${draw}, ${what}: ${who} ${wins} with ${Math.max(...means).toFixed(1)} %. In ` +
      `${N_DRAWS} draws ${ever.size} of the ${names.length} come first at least once.`
    );
  }

  // The picture is pulled sideways, and draws again.
  function dragged(grip, by, state) {
    const draw = state.draw + Math.round(by / PULL);
    return { ...state, draw: Math.min(Math.max(draw, 1), N_DRAWS) };
  }

  window.posencExplorables.define("luck", { functions: { drawn, dragged }, redraw, drag: dragged });
})();
