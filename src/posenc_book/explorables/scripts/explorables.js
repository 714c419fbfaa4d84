// Makes explorable figures answer. A classic script, so that pages work from a folder too.
// A figure's own script calls posencExplorables.define(name, {functions, redraw}), with
// drag(grip, by, state, down) too where parts with a `data-grip` can be dragged along, or down too, or,
// if they have `data-turn` as well, turned: `by` is then an angle in radians, counter-clockwise.

(() => {
  "use strict";
  if (window.posencExplorables) return;
  const known = {};
  const live = new WeakSet();

  function define(name, figure) {
    known[name] = figure;
    startAll();
    // In a notebook the figure may reach the page a moment after its script.
    for (const wait of [50, 300, 1000]) setTimeout(startAll, wait);
  }

  function startAll() {
    for (const root of document.querySelectorAll("figure.explorable")) {
      const figure = known[root.dataset.name];
      if (figure && !live.has(root)) {
        live.add(root);
        start(root, figure);
      }
    }
  }

  function start(root, figure) {
    const { data, presets, python } = JSON.parse(root.querySelector("script").textContent);
    const inputs = [...root.querySelectorAll("[data-key]")];
    const parts = {};
    for (const part of root.querySelectorAll("[data-part]")) parts[part.dataset.part] = part;
    const view = { root, part: (name) => parts[name], set };
    const summary = root.querySelector(".explorable-summary");
    const first = read();
    let asked = 0;

    function read() {
      const numeric = (input) => (input.type === "range" ? Number(input.value) : input.value);
      return Object.fromEntries(inputs.map((input) => [input.dataset.key, numeric(input)]));
    }

    function draw() {
      asked = 0;
      const state = read();
      for (const input of inputs) tell(input);
      const words = figure.redraw(view, state, data);
      if (summary.textContent !== words) summary.textContent = words;
    }

    // Many events, one picture: a slider fires faster than a screen shows.
    function ask() {
      if (!asked) asked = requestAnimationFrame(draw);
    }

    function enter(state) {
      for (const input of inputs) {
        if (input.dataset.key in state) input.value = state[input.dataset.key];
      }
      ask();
    }

    // In the book's own pages only: a notebook's address belongs to its program.
    function remember() {
      if (!root.closest("article.bd-article")) return;
      const state = read();
      const changed = Object.keys(state).some((key) => state[key] !== first[key]);
      const said = new URLSearchParams(state).toString();
      const address = changed ? `#${root.id}?${said}` : location.pathname + location.search;
      history.replaceState(null, "", address);
    }

    for (const input of inputs) {
      input.addEventListener("input", ask);
      input.addEventListener("change", remember);
    }
    root.querySelectorAll("[role=switch]").forEach(turnable);
    root.querySelectorAll(".explorable-order").forEach(movable);
    root.querySelectorAll(".explorable-spot").forEach(steerable);
    root.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.preset) enter(presets[button.dataset.preset]);
      if (button.dataset.do === "reset") enter(first);
      if (button.dataset.do === "copy") return copy(button, fill(python, read()));
      remember();
    });

    // Mouse, pen and finger alike; what a drag changes are the controls, which keys can reach.
    let held = null;
    const svg = root.querySelector("svg");

    function under(event, grip) {
      const frame = "turn" in grip.dataset ? grip : svg;
      const screen = new DOMPoint(event.clientX, event.clientY);
      return screen.matrixTransform(frame.getScreenCTM().inverse());
    }

    // How far the pointer has come: over the drawing, or around a part that says `data-turn`.
    function follow(event) {
      const [from, to] = [held.at, under(event, held.grip)];
      const turn = Math.atan2(from.y, from.x) - Math.atan2(to.y, to.x);
      const around = turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
      held.by += "turn" in held.grip.dataset ? around : to.x - from.x;
      held.down += to.y - from.y;
      held.at = to;
      enter(figure.drag(held.grip.dataset.grip, held.by, held.state, held.down));
    }

    function letGo() {
      if (held) remember();
      held = null;
    }

    if (figure.drag) {
      svg.style.touchAction = "pan-y"; // a finger that goes sideways drags; up and down, it scrolls
      const keep = (event) => event.target.closest(".grip.free") && event.preventDefault();
      svg.addEventListener("touchstart", keep, { passive: false }); // these go up and down, too
      svg.addEventListener("pointerdown", (event) => {
        const grip = event.target.closest("[data-grip]");
        if (!grip || event.button) return;
        grip.setPointerCapture(event.pointerId);
        held = { grip, at: under(event, grip), by: 0, down: 0, state: read() };
      });
      svg.addEventListener("pointermove", (event) => held && follow(event));
      for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, letGo);
    }

    function recall() {
      const [id, said] = location.hash.slice(1).split("?");
      if (id !== root.id || !said) return;
      const named = new URLSearchParams(said);
      const can = inputs.filter((input) => accepts(input, named.get(input.dataset.key)));
      enter(Object.fromEntries(can.map(({ dataset: { key } }) => [key, named.get(key)])));
      root.scrollIntoView();
    }
    window.addEventListener("hashchange", recall);
    root.classList.add("is-live");
    draw();
    recall();
  }

  // Whether a control can have the value that an address names: an old one may name another.
  function accepts(input, value) {
    const { ends, words } = input.parentElement.dataset;
    if (value === null) return false;
    if (input.options) return [...input.options].some((option) => option.value === value);
    if (input.type === "range") return /^-?[\d.]+(e-?\d+)?$/.test(value) && Number.isFinite(Number(value));
    if (words) return [...value].sort().join() === [...input.value].sort().join();
    return ends ? within(value, ends.split(",").map(Number)) : ["on", "off"].includes(value);
  }

  function within(place, [top, bottom, left, right]) {
    const [row, column] = /^-?\d+,-?\d+$/.test(place) ? place.split(",").map(Number) : [];
    return row >= top && row <= bottom && column >= left && column <= right;
  }

  // What a reader sees of an input. Words that are being dragged are told when they are dropped.
  function tell(input) {
    const box = input.parentElement;
    const shown = box.querySelector("output");
    const said = input.dataset.said?.split(" ")[input.value - input.min];
    if (shown) shown.textContent = said ?? input.value;
    if (said) input.setAttribute("aria-valuetext", said);
    box.querySelector("[role=switch]")?.setAttribute("aria-checked", input.value === "on");
    if (!box.dataset.words || box.classList.contains("is-dragging")) return;
    const words = box.dataset.words.split(" ");
    box.querySelectorAll("button").forEach((slot, i) => (slot.textContent = words[input.value[i]]));
  }

  // Changes a hidden input as a reader would a visible one.
  function change(input, value) {
    input.value = value;
    for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind, { bubbles: true }));
  }

  function turnable(button) {
    const input = button.parentElement.querySelector("input");
    button.addEventListener("click", () => change(input, input.value === "on" ? "off" : "on"));
  }

  // A place in a grid: each button moves it one step, and so do the arrow keys on any of them.
  function steerable(pad) {
    const input = pad.querySelector("input");
    const [top, bottom, left, right] = pad.dataset.ends.split(",").map(Number);
    const buttons = [...pad.querySelectorAll("button")];
    const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

    function step({ dataset }) {
      const [[row, column], [down, across]] = [input.value, dataset.step].map((two) =>
        two.split(",").map(Number),
      );
      const [i, j] = [row + down, column + across];
      if (i >= top && i <= bottom && j >= left && j <= right) change(input, `${i},${j}`);
    }

    for (const button of buttons) {
      button.disabled = false;
      button.addEventListener("click", () => step(button));
    }
    pad.addEventListener("keydown", (event) => {
      const button = buttons[keys.indexOf(event.key)];
      if (!button) return;
      event.preventDefault();
      step(button);
    });
  }

  function swapped(order, i, j) {
    const places = [...order];
    [places[i], places[j]] = [places[j], places[i]];
    return places.join("");
  }

  // Words in a row: the one that is dragged, pressed or sent by an arrow key trades places.
  function movable(row) {
    const input = row.querySelector("input");
    const slots = [...row.querySelectorAll("button")];
    slots.forEach((slot, i) => {
      let held = null; // where the pointer took the word, and the order at that time
      let dragged = false;
      slot.disabled = false;

      function trade(j) {
        change(input, swapped(input.value, i, j));
        tell(input);
        slots[j].focus({ preventScroll: true });
      }

      function under(x) {
        const over = slots.findIndex((one) => {
          const left = row.getBoundingClientRect().left + one.offsetLeft;
          return x < left + one.offsetWidth;
        });
        return over < 0 ? slots.length - 1 : over;
      }

      function follow(event) {
        if (!held) return;
        const by = event.clientX - held.x;
        if (!dragged && Math.abs(by) < 4) return;
        dragged = true;
        row.classList.add("is-dragging");
        slot.classList.add("is-held");
        const j = under(event.clientX);
        slots.forEach((one, k) => {
          const room = k === j && k !== i ? slot.offsetLeft - one.offsetLeft : 0;
          one.style.transform = `translateX(${k === i ? by : room}px)`;
        });
        const order = swapped(held.order, i, j);
        if (order !== input.value) change(input, order);
      }

      function drop(event) {
        if (!held) return;
        if (event.type === "pointercancel") change(input, held.order);
        held = null;
        row.classList.remove("is-dragging");
        slot.classList.remove("is-held");
        for (const one of slots) one.style.removeProperty("transform");
        tell(input);
        if (dragged) slots[under(event.clientX)].focus({ preventScroll: true });
      }

      slot.addEventListener("pointerdown", (event) => {
        dragged = false;
        if (event.button !== 0) return;
        held = { x: event.clientX, order: input.value };
        slot.setPointerCapture(event.pointerId);
      });
      slot.addEventListener("pointermove", follow);
      slot.addEventListener("pointerup", drop);
      slot.addEventListener("pointercancel", drop);
      slot.addEventListener("click", () => {
        if (!dragged) trade((i + 1) % slots.length);
        dragged = false;
      });
      slot.addEventListener("keydown", (event) => {
        const j = i + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? NaN);
        if (!slots[j]) return;
        event.preventDefault();
        trade(j);
      });
    });
  }

  function set(part, attributes) {
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
  }

  function fill(template, state) {
    return template.replace(/\{(\w+)\}/g, (all, key) => (key in state ? state[key] : all));
  }

  async function copy(button, words) {
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(words);
      button.textContent = "Copied";
    } catch {
      button.textContent = words; // no clipboard here: the words can be marked by hand
    }
    setTimeout(() => (button.textContent = label), 4000);
  }

  window.posencExplorables = { define, known, fill };
})();
