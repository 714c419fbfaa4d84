// The dials of `released_models.py`; its models come from the register.

(() => {
  "use strict";
  const [LEFT, WIDTH, TOP] = [8, 344, 78];
  const [STRIP, TALL, LOW] = [38, 18, 7];
  const TURN = 2 * Math.PI;
  const kindOf = (model, layer) => model.kinds["abcdefgh".indexOf(model.layers[layer])];
  const zeros = (n) => Array(n).fill(0);

  function speeds(kind, length) {
    if (!kind.base) return zeros(kind.n);
    const plain = (_, i) => kind.base ** (-i / kind.turning);
    let turning = kind.omega ?? Array.from({ length: kind.turning }, plain);
    if (length <= (kind.until ?? 0)) turning = kind.early;
    return [...zeros(kind.first), ...turning, ...zeros(kind.n - kind.first - turning.length)];
  }

  function turned(kind, length) {
    const reach = Math.min(length, kind.window ?? length);
    return speeds(kind, length).map((one) => reach * one);
  }

  function fresh(kind, made, length) {
    const old = turned(kind, made);
    return turned(kind, length).map((now, i) =>
      Math.min(now, TURN) > Math.min(old[i], TURN) * (1 + 1e-9));
  }

  const said = (n) => n.toLocaleString("en-US");
  const at = (...numbers) => numbers.map((one) => one.toFixed(2)).join(" ");

  function sentence(model, layer, kind, length) {
    const n = fresh(kind, model.made, length).filter(Boolean).length;
    let told = `${model.title}, layer ${layer + 1} of ${model.layers.length}`;
    if (!kind.base) return `${told}, has no positions: no hand turns, so no length brings a new angle.`;
    told += `: ${kind.turning} of ${kind.n} pairs turn, base ${said(kind.base)}`;
    told += kind.schedule ? `, schedule ${kind.schedule}. ` : ". ";
    if (kind.window) {
      const sight = kind.chunk ? "its own chunk of" : "the last";
      return `${told}A token sees ${sight} ${said(kind.window)} tokens, so no hand turns further, ` +
        `be a text of ${said(length)} tokens or any other.`;
    }
    told += `It is made for ${said(model.made)} tokens; at ${said(length)}`;
    return length <= model.made ? `${told} no angle is new.` : `${told}, ${n} hands enter new angles.`;
  }

  function strip(model, layer) {
    const step = WIDTH / model.layers.length;
    const found = { tall: "", low: "", open: "" };
    [...model.layers].forEach((_, i) => {
      const kind = kindOf(model, i);
      const look = !kind.base ? "open" : kind.window ? "low" : "tall";
      const high = look === "low" ? LOW : TALL;
      const wide = at(0.7 * step);
      found[look] += `M${at(LEFT + step * i, STRIP + TALL)}h${wide}v${-high}h-${wide}z`;
    });
    const wide = at(step);
    found.mark = `M${at(LEFT + step * (layer - 0.15), STRIP - 4)}h${wide}v${TALL + 8}h-${wide}z`;
    return found;
  }

  const columns = (n) => (n <= 32 ? 8 : n <= 64 ? 12 : 16);
  const tip = (x, y, r, angle) => at(x + r * Math.sin(angle), y - r * Math.cos(angle));

  function round(x, y, r) {
    const half = `a${at(r, r)} 0 1 1`;
    return `M${at(x - r, y)}${half} ${at(2 * r)} 0${half} ${at(-2 * r)} 0z`;
  }

  function sector(x, y, r, angle) {
    if (angle >= TURN) return round(x, y, r);
    const large = Number(angle > Math.PI);
    return `M${at(x, y)}V${at(y - r)}A${at(r, r)} 0 ${large} 1 ${tip(x, y, r, angle)}z`;
  }

  function arc(x, y, r, old, now) {
    const end = Math.min(now, TURN);
    const large = Number(end - old > Math.PI);
    return `M${tip(x, y, r, old)}A${at(r, r)} 0 ${large} 1 ${tip(x, y, r, end)}`;
  }

  function pointed(x, y, r, angle) {
    const [end, side] = [Math.min(angle, TURN), Math.PI / 2];
    const [left, right] = [-0.55, 0.55].map((by) => tip(x, y, 0.65 * r, end + by));
    const [one, other] = [-side, side].map((by) => tip(x, y, 0.09 * r, end + by));
    const hand = `M${one}L${tip(x, y, 0.65 * r, end)}L${other}z`;
    return `${hand}M${tip(x, y, 0.25 * r, end)}L${left}L${tip(x, y, 1.08 * r, end)}L${right}z`;
  }

  function dials(kind, made, length) {
    const [seen, reached, news] = [turned(kind, made), turned(kind, length), fresh(kind, made, length)];
    const found = { seen: "", faces: "", still: "", hands: "", arcs: "", new: "" };
    const inRow = columns(seen.length);
    const cell = WIDTH / inRow;
    const r = 0.37 * cell;
    seen.forEach((old, i) => {
      const x = LEFT + cell * ((i % inRow) + 0.5);
      const y = TOP + cell * (Math.floor(i / inRow) + 0.5);
      if (!old) {
        found.still += round(x, y, 1.5);
        return;
      }
      found.faces += round(x, y, r);
      found.seen += sector(x, y, r, old);
      if (news[i]) {
        found.arcs += arc(x, y, r, old, reached[i]);
        found.new += pointed(x, y, r, reached[i]);
      } else if (reached[i] < TURN) {
        found.hands += `M${at(x, y)}L${tip(x, y, r, reached[i])}`;
      }
    });
    return found;
  }

  function redraw(view, state, data) {
    const model = data[state.model];
    const layer = Math.min(state.layer, model.layers.length) - 1;
    const [kind, length] = [kindOf(model, layer), 2 ** state.power];
    const drawn = { ...strip(model, layer), ...dials(kind, model.made, length) };
    for (const [part, d] of Object.entries(drawn)) view.set(view.part(part), { d });
    return sentence(model, layer, kind, length);
  }

  const functions = { speeds, turned, fresh };
  window.posencExplorables.define("released-models", { functions, redraw });
})();
