// The rows of `wave_bank.py`.

(() => {
  "use strict";
  const [LENGTH, MOST_PAIRS, POINTS] = [64, 16, 192];
  const [LEFT, WIDTH, TOP, HEIGHT] = [84, 268, 8, 272];

  function frequencies(dModel, base) {
    return Array.from({ length: dModel / 2 }, (_, i) => base ** ((-2 * i) / dModel));
  }

  function period(omega) {
    const turn = (2 * Math.PI) / omega;
    return turn < 100 ? turn.toFixed(1) : turn.toFixed(0);
  }

  function curve(omega, middle, half) {
    const points = [];
    for (let j = 0; j <= POINTS; j++) {
      const t = (LENGTH * j) / POINTS;
      points.push(`${LEFT + (WIDTH * t) / LENGTH} ${middle - half * Math.sin(omega * t)}`);
    }
    return `M${points.join("L")}`;
  }

  function redraw(view, state) {
    const omega = frequencies(Number(state.d_model), Number(state.base));
    const half = (0.42 * HEIGHT) / omega.length;
    for (let i = 0; i < MOST_PAIRS; i++) {
      const used = i < omega.length;
      const middle = TOP + (HEIGHT * (i + 0.5)) / omega.length;
      view.set(view.part(`row-${i}`), { d: used ? curve(omega[i], middle, half) : "" });
      view.set(view.part(`period-${i}`), { y: used ? middle + 4 : 0 });
      view.part(`period-${i}`).textContent = used ? period(omega[i]) : "";
    }
    const x = LEFT + (WIDTH * state.position) / LENGTH;
    view.set(view.part("cursor"), { x1: x, x2: x });
    const turned = omega.filter((w) => w * LENGTH >= 2 * Math.PI).length;
    return (
      `${omega.length} pairs, with periods from ${period(omega[0])} to ${period(omega.at(-1))} ` +
      `positions. Within ${LENGTH} positions ${turned} of them turn at least once.`
    );
  }

  window.posencExplorables.define("wave-bank", { functions: { frequencies }, redraw });
})();
