// The dots of `one_more_split.py`; the differences come with the page.

(() => {
  "use strict";
  const N_SPLITS = 5;
  const [LOW, HIGH] = [-48, 22];
  const [LEFT, WIDTH, TOP, ROW] = [50, 304, 26, 19];
  const PULL = 40; // pixels of the drawing for one split

  // Mean and interval; one difference has none.
  function judged(differences, factors) {
    const n = differences.length;
    const mean = differences.reduce((sum, one) => sum + one, 0) / n;
    if (n < 2) return [mean, NaN, NaN];
    const squares = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0);
    const half = factors[n - 2] * Math.sqrt(squares / (n - 1));
    return [mean, mean - half, mean + half];
  }

  function place(points) {
    return LEFT + (WIDTH * (Math.min(Math.max(points, LOW), HIGH) - LOW)) / (HIGH - LOW);
  }

  function between(one, other, y) {
    return `M${place(one).toFixed(1)} ${y.toFixed(1)}H${place(other).toFixed(1)}`;
  }

  function signed(points) {
    return `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(1)}`;
  }

  function redraw(view, { splits, compared }, { names, differences, factors }) {
    const all = differences[compared];
    all.forEach((one, i) => {
      const shown = i < splits;
      view.set(view.part(`dot-${i}`), { cx: place(one), r: shown ? 4 : 0 });
      const d = shown ? between(0, one, TOP + ROW * (i + 0.5)) : "";
      view.set(view.part(`reach-${i}`), { d });
    });
    const own = all.slice(0, splits);
    const [mean, low, high] = judged(own, factors);
    view.set(view.part("mean"), { cx: place(mean) });
    const bar = splits < 2 ? "" : between(low, high, TOP + ROW * (N_SPLITS + 0.8));
    view.set(view.part("bar"), { d: bar });

    const ahead = mean > 0 ? "ahead of" : "behind";
    const n = own.filter((one) => (mean > 0 ? one > 0 : one < 0)).length;
    const soFar = `${names[compared]} is ${Math.abs(mean).toFixed(1)} points ${ahead} the sinusoid`;
    if (splits === 1) {
      return `On the first split ${soFar}. A single pair cannot tell whether that is luck.`;
    }
    const held = low <= 0 && high >= 0;
    const zero = held ? "holds zero: this may" : "leaves zero out: this can hardly";
    return (
      `On average ${soFar}, and ${ahead} it on ${n} of ${splits} splits. ` +
      `The interval from ${signed(low)} to ${signed(high)} ${zero} be luck.`
    );
  }

  // The picture is pulled sideways, and one more split is there.
  function dragged(grip, by, state) {
    const splits = state.splits + Math.round(by / PULL);
    return { ...state, splits: Math.min(Math.max(splits, 1), N_SPLITS) };
  }

  const functions = { judged, dragged };
  window.posencExplorables.define("one-more-split", { functions, redraw, drag: dragged });
})();
