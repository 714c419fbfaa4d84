// The rows of `benchmark`, in posenc_book.read.classification.explorable; accuracies come with the page.

(() => {
  "use strict";
  const [MUCH, LITTLE, ENDS] = [10, 2, 3];
  const [LEFT, UNIT, TOP, HEIGHT] = [124, 2.14, 46, 500];

  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const gains = (rows) => rows.none.map((none, i) => mean(rows.encodings[i]) - none);

  // On how many sets an encoding is among the best of the ten, and among the worst.
  function standing(rows, follow) {
    const few = (row, better) => row.filter((other) => better(other, row[follow])).length < ENDS;
    const best = rows.encodings.filter((row) => few(row, (a, b) => a > b)).length;
    return [best, rows.encodings.filter((row) => few(row, (a, b) => a < b)).length];
  }

  const place = (accuracy) => (LEFT + UNIT * accuracy).toFixed(1);
  const short = (name) => (name.length <= 19 ? name : `${name.slice(0, 17)}…`);

  function paths(rows, follow) {
    const found = { gaps: "", with: "", without: "", followed: "" };
    rows.encodings.forEach((several, i) => {
      const y = (TOP + (HEIGHT * (i + 0.5)) / rows.sets.length).toFixed(1);
      const dot = (accuracy) => `M${place(accuracy)} ${y}h.01`;
      found.gaps += `M${place(rows.none[i])} ${y}H${place(mean(several))}`;
      found.without += dot(rows.none[i]);
      found.with += several.map(dot).join("");
      found.followed += dot(several[follow]);
    });
    return found;
  }

  function redraw(view, { tokens, follow }, data) {
    const rows = data.rows[tokens];
    const at = Object.keys(data.names).indexOf(follow);
    for (const [part, d] of Object.entries(paths(rows, at))) view.set(view.part(part), { d });
    const n = rows.sets.length;
    for (let i = 0; view.part(`set-${i}`); i++) {
      view.part(`set-${i}`).textContent = i < n ? short(rows.sets[i]) : "";
      if (i < n) view.set(view.part(`set-${i}`), { y: TOP + (HEIGHT * (i + 0.5)) / n + 3.5 });
    }
    view.part("followed-name").textContent = data.names[follow];
    if (!n) return "No data set has been trained whole yet.";
    const gained = gains(rows);
    const [best, worst] = standing(rows, at);
    return (
      `On ${gained.filter((one) => one >= MUCH).length} of ${n} data sets an encoding brings ` +
      `${MUCH} points or more on average, on ${gained.filter((one) => one < LITTLE).length} it ` +
      `brings less than ${LITTLE}. ${data.names[follow]} is among the best ${ENDS} of the ten on ` +
      `${best} sets, and among the worst ${ENDS} on ${worst}.`
    );
  }

  const functions = { gains, standing };
  window.posencExplorables.define("benchmark", { functions, redraw });
})();
