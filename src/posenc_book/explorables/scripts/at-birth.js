// The bars of `at_birth.py`.

(() => {
  "use strict";
  const [EVEN, DOUBLE] = [132, 13];

  const top = (share) => EVEN - DOUBLE * Math.log2(share);

  const rect = (share) => ({
    y: Math.min(top(share), EVEN),
    height: Math.max(Math.abs(top(share) - EVEN), 1),
  });

  const said = (share) => share.toFixed(share >= 20 ? 0 : 1);

  function redraw(view, { encoding, depth }, { names, shares }) {
    const found = shares[encoding][depth - 1];
    found.forEach((share, i) => view.set(view.part(`bar-${i}`), rect(share)));
    const layers = depth === 1 ? "1 layer" : `${depth} layers`;
    const [first, before, last] = [found[0], ...found.slice(-2)].map(said);
    return (
      `${names[encoding]}, ${layers}: beside a token of the middle one of the first eight ` +
      `counts ${first} times as much, one of those before the last ` +
      `${before} times, and the last token itself ${last} times.`
    );
  }

  window.posencExplorables.define("at-birth", { functions: { top, said }, redraw });
})();
