// The ranks and the heat map of `benchmark.py`; gains, groups and summaries come with the page.

(() => {
  "use strict";
  const LIMITS = [1, 2, 5, 10];
  const N_ENCODINGS = 10;
  const [LEFT, WIDTH, AXIS, NAME, HEADS] = [112, 244, 30, 17, 70];
  const TOP = AXIS + 24 + NAME * Math.ceil(N_ENCODINGS / 2) + HEADS;

  // Mean ranks over rows of scores; 1 is best, ties share.
  function averageRanks(rows) {
    const ranks = rows.map((row) =>
      row.map((value) => {
        const better = row.filter((other) => other > value).length;
        return better + (row.filter((other) => other === value).length + 1) / 2;
      }),
    );
    return rows.length ? mean(ranks) : [];
  }

  function mean(rows) {
    return rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
  }

  const level = (gain) => LIMITS.filter((limit) => Math.abs(gain) >= limit).length - 1;
  const step = (rows) => Math.min(24, Math.max(12, 456 / Math.max(rows, 1)));
  const rankX = (rank, n) => 20 + (320 * (rank - 1)) / Math.max(n - 1, 1);

  function namePlace(i, n) {
    const left = Math.ceil(n / 2);
    const row = i < left ? i : n - 1 - i;
    return { x: i < left ? 4 : 356, y: AXIS + 34 + NAME * row, class: i < left ? "" : "end" };
  }

  function shades(gains, height) {
    const found = { minus: "" };
    for (const kind of ["gain", "loss"]) LIMITS.forEach((_, i) => (found[`${kind}-${i}`] = ""));
    gains.forEach((row, r) => {
      const width = WIDTH / row.length;
      row.forEach((gain, c) => {
        const shade = level(gain);
        if (shade < 0) return;
        const [x, y] = [LEFT + c * width, TOP + r * height];
        found[`${gain > 0 ? "gain" : "loss"}-${shade}`] +=
          `M${x} ${y}h${width - 1.5}v${height - 1.5}h${1.5 - width}z`;
        if (gain < 0) found.minus += `M${x + width / 2 - 4.5} ${y + height / 2 - 0.8}h7`;
      });
    });
    return found;
  }

  function drawRanks(view, ranks, order, shown) {
    const n = order.length;
    let [lines, bars] = ["", ""];
    for (let i = 0; i < N_ENCODINGS; i++) {
      const tick = view.part(`tick-${i + 1}`);
      tick.textContent = i < n ? i + 1 : "";
      view.set(tick, { x: rankX(i + 1, n) });
      const at = namePlace(i, n || N_ENCODINGS);
      const name = view.part(`name-${i}`);
      name.textContent = i < n ? `${shown.names[order[i]]} ${ranks[order[i]].toFixed(1)}` : "";
      if (i >= n) continue;
      view.set(name, at);
      const end = at.x < 100 ? 104 : 256;
      lines += `M${rankX(ranks[order[i]], n)} ${AXIS}V${at.y - 4}H${end}`;
    }
    shown.groups.forEach(([first, last], i) => {
      const [best, worst] = [first, last].map((one) => rankX(ranks[order[one]], n));
      bars += `M${best - 3} ${AXIS + 6 + 4 * (i % 4)}H${worst + 3}`;
    });
    view.set(view.part("lines"), { d: lines });
    view.set(view.part("bars"), { d: bars });
  }

  function redraw(view, state, data) {
    const found = data.shown[`${state.model} ${state.sets} ${state.encodings}`];
    const columns = data.columns[state.encodings];
    const gains = found.rows.map((row) => columns.map((column) => data.gains[row][column]));
    const names = columns.map((column) => data.names[column]);
    const ranks = averageRanks(gains);
    const order = ranks.map((_, i) => i).sort((a, b) => ranks[a] - ranks[b]);
    drawRanks(view, ranks, order, { names, groups: found.groups });
    const sorted = gains.map((row) => order.map((i) => row[i]));
    for (const [part, d] of Object.entries(shades(sorted, step(data.room)))) {
      view.set(view.part(part), { d });
    }
    view.part("heading").textContent = data.headings[state.sets];
    view.set(view.part("frame"), { height: step(data.room) * gains.length });
    for (let r = 0; r < data.room; r++) {
      view.part(`set-${r}`).textContent = data.sets[found.rows[r]] ?? "";
    }
    for (let c = 0; c < N_ENCODINGS; c++) {
      const x = LEFT + (WIDTH * (c + 0.5)) / (order.length || N_ENCODINGS);
      const column = view.part(`column-${c}`);
      column.textContent = c < order.length ? names[order[c]] : "";
      view.set(column, { transform: `translate(${x + 3} ${TOP - 6}) rotate(-90)` });
    }
    return found.say;
  }

  const functions = { averageRanks, level };
  window.posencExplorables.define("benchmark", { functions, redraw });
})();
