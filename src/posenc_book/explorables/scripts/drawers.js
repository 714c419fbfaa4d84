// The pieces and the two forecasters of `drawers.py`; days and weights come with the page.

(() => {
  "use strict";
  const [PIECE, N_PIECES] = [4, 12];
  const [LEFT, STEP, MIDDLE, UNIT] = [12, 4.6, 104, 32];
  const TOLD = {
    mean: "The mean of the pieces is the same in every order, so the forecast stands still",
    flat: "Each place has weights of its own, which expect the pieces in their order",
    again: "Each place has weights of its own, and it has learned what comes there",
  };

  const count = (n) => Array.from({ length: n }, (_, i) => i);

  // Which piece lies at each place after so many swaps.
  function order(swaps, data) {
    const places = count(N_PIECES);
    for (const [one, other] of data.swaps.slice(0, swaps)) {
      [places[one], places[other]] = [places[other], places[one]];
    }
    return places;
  }

  const pieces = ({ past }) => count(N_PIECES).map((i) => past.slice(PIECE * i, PIECE * (i + 1)));
  const times = (x, weights) =>
    weights[0].map((_, j) => x.reduce((sum, one, i) => sum + one * weights[i][j], 0));

  function forecast(head, swaps, data) {
    if (head === "again") return times(data.past, data.flat);
    const lying = order(swaps, data).map((piece) => pieces(data)[piece]);
    if (head === "flat") return times(lying.flat(), data.flat);
    const mean = count(PIECE).map((k) => lying.reduce((sum, one) => sum + one[k], 0) / N_PIECES);
    return times(mean, data.mean);
  }

  function off(head, swaps, data) {
    const gaps = forecast(head, swaps, data).map((said, i) => Math.abs(said - data.ahead[i]));
    return gaps.reduce((sum, one) => sum + one, 0) / gaps.length;
  }

  function line(values, left) {
    const points = values.map(
      (y, i) => `${(left + STEP * i).toFixed(1)} ${(MIDDLE - UNIT * y).toFixed(1)}`,
    );
    return `M${points.join("L")}`;
  }

  function redraw(view, { head, swaps }, data) {
    const lying = order(swaps, data).map((piece) => pieces(data)[piece]);
    const past = lying.map((piece, i) => line(piece, LEFT + STEP * PIECE * i)).join("");
    view.set(view.part("past"), { d: past });
    const right = LEFT + STEP * PIECE * N_PIECES + 4;
    view.set(view.part("said"), { d: line(forecast(head, swaps, data), right) });
    const told = `${TOLD[head]}. It is off by ${off(head, swaps, data).toFixed(2)} on average`;
    if (head === "mean" || !swaps) return `${told}.`;
    return `${told}, and by ${off(head, 0, data).toFixed(2)} in order.`;
  }

  window.posencExplorables.define("drawers", { functions: { order, forecast, off }, redraw });
})();
