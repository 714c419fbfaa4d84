// The page and the bars of `drowning.py`.

(() => {
  "use strict";
  const [N_PLACES, N_NUMBERS] = [256, 8];
  const [LEFT, STEP] = [20, 1.25];
  const [BASE, UP] = [154, 78];

  // What a place adds to the numbers of a word.
  function added(place, written) {
    if (written === "number") return Array(N_NUMBERS).fill(place);
    if (written === "fraction") return Array(N_NUMBERS).fill(place / N_PLACES);
    const figures = place.toString(written === "bits" ? 2 : 10).padStart(N_NUMBERS, "0");
    return [...figures].map(Number);
  }

  // The largest number of the words, as a share of the tallest bar.
  function share(words, place, written) {
    const numbers = added(place, written);
    const size = (rows) => Math.max(...rows.flat().map(Math.abs));
    const whole = size(words.map((row) => row.map((x, i) => x + numbers[i])));
    return size(words) / Math.max(whole, size(words));
  }

  function plus(numbers, place, written) {
    if (written === "number") return `+ ${place} to each number`;
    if (written === "fraction") return `+ ${numbers[0].toFixed(2)} to each number`;
    return `+ ${numbers.join("  ")}`;
  }

  function fault(numbers, place, written) {
    if (written === "number") return `At place ${place} each of the eight numbers grows by ${place}.`;
    if (written === "fraction") {
      return (
        `At place ${place} each number grows by ${numbers[0].toFixed(2)}; in a text twice as long ` +
        `that is place ${2 * place}.`
      );
    }
    const changed = added(place + 1, written).filter((one, i) => one !== numbers[i]).length;
    const kind = written === "digits" ? "digit" : "bit";
    const some = changed === 1 ? `1 ${kind} changes` : `${changed} ${kind}s change`;
    return `From place ${place} to ${place + 1}, ${some}.`;
  }

  function redraw(view, { place, written }, { words }) {
    const numbers = added(place, written);
    const sums = words.map((row) => row.map((x, i) => x + numbers[i]));
    const scale = UP / Math.max(...sums.flat(), ...numbers);
    const rect = (low, high) => ({
      y: BASE - scale * Math.max(low, high),
      height: scale * Math.abs(high - low),
    });
    sums.forEach((row, word) =>
      row.forEach((sum, i) => {
        view.set(view.part(`added-${word}-${i}`), rect(0, numbers[i]));
        view.set(view.part(`word-${word}-${i}`), rect(numbers[i], sum));
      }),
    );
    const x = LEFT + STEP * place;
    view.set(view.part("mark"), { cx: x });
    view.set(view.part("place"), { x: Math.min(Math.max(x, 42), 318) });
    view.part("place").textContent = `place ${place}`;
    view.part("plus").textContent = plus(numbers, place, written);
    const left = Math.round(100 * share(words, place, written));
    return (
      `${fault(numbers, place, written)} The words are ${left}% as tall as the tallest bar.`
    );
  }

  // Where the mark stands after it was dragged by so much.
  function dragged(grip, by, { place, written }) {
    const there = place + Math.round(by / STEP);
    return { place: Math.min(Math.max(there, 0), N_PLACES - 2), written };
  }

  const functions = { added, share, dragged };
  window.posencExplorables.define("drowning", { functions, redraw, drag: dragged });
})();
