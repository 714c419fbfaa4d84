// The pairs of `rope_schedules.py`, and the schedules of `posenc.schedules`.

(() => {
  "use strict";
  const [D_HEAD, KEEP] = [96, 0.75];
  const N_PAIRS = D_HEAD / 2;
  const [LEFT, WIDTH, TOP, DEEP, MOST, BASE, HIGH] = [40, 312, 26, 98, 7, 284, 100];
  const STILL = TOP + DEEP + 12;
  const TURN = 2 * Math.PI;

  const clip = (value) => Math.min(1, Math.max(0, value));
  const ramp = (value, start, end) => clip((value - start) / (end - start || 1e-3));
  const geometric = (n, base) => Array.from({ length: n }, (_, i) => base ** (-i / n));

  const linear = (omega, factor) => omega.map((w) => w / factor);
  const ntk = (omega, factor) => omega.map((w, i) => w * factor ** (-i / (omega.length - 1)));

  function dynamicNtk(omega, factor, length, original) {
    return ntk(omega, 1 + factor * Math.max(0, length / original - 1));
  }

  function byParts(omega, factor, kept) {
    return omega.map((w, i) => ((1 - kept[i]) * w) / factor + kept[i] * w);
  }

  // Fast pairs stay, slow ones are divided; the ramp between is linear in the pair's number.
  function yarn(omega, factor, original) {
    const n = omega.length;
    const perLog = (n - 1) / Math.log(omega[0] / omega[n - 1]);
    const at = [32, 1].map((beta) => Math.log((original * omega[0]) / TURN / beta) * perLog);
    const [first, last] = [Math.max(Math.floor(at[0]), 0), Math.min(Math.ceil(at[1]), 2 * n - 1)];
    return byParts(omega, factor, omega.map((_, i) => 1 - ramp(i, first, last)));
  }

  function llama3(omega, factor, original) {
    return byParts(omega, factor, omega.map((w) => ramp((original * w) / TURN, 1, 4)));
  }

  function longrope(omega, length, original, short, long) {
    return omega.map((w, i) => w / (length > original ? long : short)[i]);
  }

  function frequencies(schedule, factor, original, base, data) {
    const omega = geometric(N_PAIRS, base);
    const length = factor * original;
    if (schedule === "linear") return linear(omega, factor);
    if (schedule === "ntk") return ntk(omega, factor);
    if (schedule === "dynamic_ntk") return dynamicNtk(omega, 1, length, original);
    if (schedule === "yarn") return yarn(omega, factor, original);
    if (schedule === "llama3") return llama3(omega, factor, original);
    if (schedule === "longrope") return longrope(omega, length, original, data.short, data.long);
    if (schedule === "keep") return omega.map((w, i) => (i < KEEP * N_PAIRS ? w : 0));
    return omega;
  }

  function redraw(view, state, data) {
    const [factor, original, base] = [state.factor, Number(state.original), Number(state.base)];
    const omega = geometric(N_PAIRS, base);
    const changed = frequencies(state.schedule, factor, original, base, data);
    let [kept, unseen] = [0, 0];
    omega.forEach((w, i) => {
      const ratio = changed[i] / w;
      const seen = Math.min(1, (original * w) / TURN);
      const met = Math.min(1, (factor * original * changed[i]) / TURN);
      const isUnseen = met > seen + 1e-9;
      kept += Math.abs(ratio - 1) < 1e-9;
      unseen += isUnseen;
      const cy = ratio > 0 ? TOP - (DEEP * Math.log2(ratio)) / MOST : STILL;
      view.set(view.part(`ratio-${i}`), { cy });
      view.set(view.part(`bar-${i}`), { y: BASE - HIGH * seen, height: HIGH * seen });
      const look = isUnseen ? { r: 3.2, class: "dot" } : { r: 1.6, class: "seen" };
      view.set(view.part(`dot-${i}`), { cy: BASE - HIGH * met, ...look });
    });
    const once = (Math.log(original / TURN) / Math.log(base)) * N_PAIRS;
    const x = LEFT + (WIDTH * (once + 0.5)) / N_PAIRS;
    view.set(view.part("once"), { x1: x, x2: x });
    const said = (n) => n.toLocaleString("en-US");
    return (
      `Schedule ${data.names[state.schedule]}, ${said(factor * original)} positions after training ` +
      `on ${said(original)}: ${kept} of ${N_PAIRS} pairs keep their frequency, and ${unseen} meet ` +
      "angles that training never showed."
    );
  }

  const functions = { linear, ntk, dynamicNtk, yarn, llama3, longrope, frequencies };
  window.posencExplorables.define("rope-schedules", { functions, redraw });
})();
