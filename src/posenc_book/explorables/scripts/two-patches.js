// The picture, the dials and the bars of `two_patches.py`.

(() => {
  "use strict";
  const [OMEGA, WANTED] = [0.7, 3];
  const [LEFT, TOP, TILE] = [8, 18, 22];
  const [ZERO, UNIT, BARS] = [150, 37, { turned: 226, added: 262 }];
  const [BOTH, KEY] = [
    { rows: [2, 5], columns: [1, 7] },
    { rows: [-1, 1], columns: [1, 4] },
  ]; // what the controls reach

  const pair = (value) => value.split(",").map(Number);
  const turned = ([rows, columns]) => Math.cos(OMEGA * rows) + Math.cos(OMEGA * (columns - WANTED));
  const times = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);

  // What the sinusoid adds for a row and a column.
  const table = (at) => at.flatMap((one) => [Math.sin(OMEGA * one), Math.cos(OMEGA * one)]);

  function added(both, key) {
    const back = OMEGA * WANTED; // the key's own arrow for columns is turned back by this
    const query = [1, 0, 1, 0];
    const other = [1, 0, Math.cos(back), -Math.sin(back)];
    const at = both.map((one, i) => one + key[i]);
    const sum = (own, place) => own.map((one, i) => one + table(place)[i]);
    return times(sum(query, both), sum(other, at));
  }

  function extremes(key) {
    const scores = [];
    for (let row = BOTH.rows[0]; row <= BOTH.rows[1]; row++) {
      for (let column = BOTH.columns[0]; column <= BOTH.columns[1]; column++) {
        scores.push(added([row, column], key));
      }
    }
    return [Math.min(...scores), Math.max(...scores)];
  }

  function angles([row, column], [rows, columns]) {
    const [query, other] = [OMEGA * row, OMEGA * column];
    return [
      [query, query + OMEGA * rows],
      [other, other + OMEGA * (columns - WANTED)],
    ];
  }

  function where([rows, columns]) {
    const right = columns === 1 ? "1 column" : `${columns} columns`;
    const level = { "-1": " and 1 row higher", 0: "", 1: " and 1 row lower" }[rows];
    return `${right} to the right${level}`;
  }

  const corner = ([row, column]) => `translate(${LEFT + TILE * column} ${TOP + TILE * row})`;

  function bar(view, name, value, [low, high]) {
    const y = BARS[name];
    const width = UNIT * (high - low);
    view.set(view.part(`${name}-bar`), { d: `M${ZERO} ${y}h${UNIT * value}v14H${ZERO}z` });
    const band = `M${ZERO + UNIT * low} ${y - 3}h${width}v20h${-width}z`;
    view.set(view.part(`${name}-band`), { d: band });
    view.part(`${name}-score`).textContent = value.toFixed(2);
  }

  function redraw(view, state) {
    const [both, key] = [pair(state.both), pair(state.key)];
    view.set(view.part("face"), { transform: corner(both) });
    view.set(view.part("key"), { transform: corner(both.map((one, i) => one + key[i])) });
    const [rows, columns] = angles(both, key);
    for (const [name, hands] of [["rows", rows], ["columns", columns]]) {
      ["query", "key"].forEach((who, i) => {
        const turn = `rotate(${(-hands[i] * 180) / Math.PI})`;
        view.set(view.part(`${name}-${who}`), { transform: turn });
      });
    }
    const [still, moving, [low, high]] = [turned(key), added(both, key), extremes(key)];
    bar(view, "turned", still, [still, still]);
    bar(view, "added", moving, [low, high]);
    return (
      `The left eye is in row ${both[0] + 1}, column ${both[1] + 1}, the other ${where(key)}. ` +
      `Turned, they score ${still.toFixed(2)} wherever the face is; with a table added, ` +
      `${moving.toFixed(2)} here and from ${low.toFixed(2)} to ${high.toFixed(2)} elsewhere.`
    );
  }

  const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);

  // What the controls become where the face, or its right eye, is dragged along and down by so much.
  function dragged(grip, along, state, down) {
    const { rows, columns } = grip === "both" ? BOTH : KEY;
    const [row, column] = pair(state[grip]);
    const [i, j] = [row + Math.round(down / TILE), column + Math.round(along / TILE)];
    return { ...state, [grip]: `${clamp(i, rows)},${clamp(j, columns)}` };
  }

  const functions = { angles, turned, added, dragged };
  window.posencExplorables.define("two-patches", { functions, redraw, drag: dragged });
})();
