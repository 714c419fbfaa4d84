// The text, the query and the bars of `ruler.py`.

(() => {
  "use strict";
  const TEXT = "FLMIPJLFPAABMHNMGJCEOFCELMKMNOCE";
  const [SLOPE, LOUD] = [0.5, 5];
  const [LEFT, TILE, TOP, HEIGHT] = [20, 10, 40, 20];
  const [ZERO, HIGH] = [190, 110];
  const [FIRST, LAST] = [8, 23]; // of the control

  const asks = (place) => 1 + ((TEXT.charCodeAt(place) - "A".charCodeAt(0)) % 4);

  function numbers(ruler, place) {
    return Array.from(TEXT, (_, i) => {
      const offset = i - place;
      if (ruler === "slope") return -SLOPE * Math.abs(offset);
      const marked = ruler === "one" ? offset >= -4 && offset <= -1 : offset === -asks(place);
      return marked ? LOUD : 0;
    });
  }

  function weights(ruler, place) {
    const grown = numbers(ruler, place).map(Math.exp);
    const sum = grown.reduce((a, b) => a + b);
    return grown.map((one) => one / sum);
  }

  function redraw(view, { place, ruler }) {
    const [found, back] = [weights(ruler, place), asks(place)];
    const wanted = `M${LEFT + TILE * (place - back)} ${TOP}h${TILE}v${HEIGHT}h${-TILE}z`;
    view.set(view.part("wanted"), { d: wanted });
    const shift = `translate(${LEFT + TILE * (place + 0.5)} ${TOP})`;
    view.set(view.part("query"), { transform: shift });
    found.forEach((weight, i) => {
      const [x, high] = [LEFT + TILE * i + 1, (HIGH * weight).toFixed(2)];
      view.set(view.part(`bar-${i}`), { d: `M${x} ${ZERO}v-${high}h${TILE - 2}V${ZERO}z` });
    });
    const where = back === 1 ? "1 place before it" : `${back} places before it`;
    return (
      `The query stands at place ${place}. It is a letter ${TEXT[place]}, which asks for the ` +
      `letter ${where}. That one gets ${(100 * found[place - back]).toFixed(0)} % of its attention.`
    );
  }

  // What the controls become where the query is dragged by so much.
  function dragged(grip, by, { place, ruler }) {
    const to = place + Math.round(by / TILE);
    return { place: Math.min(Math.max(to, FIRST), LAST), ruler };
  }

  window.posencExplorables.define("ruler", { functions: { weights, dragged }, redraw, drag: dragged });
})();
