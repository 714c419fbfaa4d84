// The letters and bars of `living_model.py`. What reads is `living-engine.js`, in a worker where the
// browser lets one start; it and the weights are loaded when the first control is moved.

(() => {
  "use strict";
  const LETTERS = " \n!'(),-.:;?abcdefghijklmnopqrstuvwxyz";
  const NAMES = {
    rope: "RoPE",
    sinusoid: "Sinusoid",
    alibi: "ALiBi",
    message: "RoPE, values turned as well",
    none: "No positions",
  };
  const [LENGTH, COLUMNS, ROWS, WRITTEN] = [64, 32, 8, 40];
  const STEPS = [0, 1, 2, 3, 5, Infinity];
  const [CELL, LANE, LINE, LEFT, TOP, GAP, TALLEST] = [11, 16, 34, 4, 18, 18, 6];
  const [WIDTH, STRIP] = [360, 316]; // of the drawing, and where the strip below the text begins
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const loads = {}; // scripts by name, as promises
  const held = {}; // weights by name, as their scripts gave them

  window.posencLiving = (...weights) => (held[weights[0]] = weights);

  function load(name) {
    loads[name] ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${folder}${name}.js`;
      script.addEventListener("load", done);
      script.addEventListener("error", () => {
        delete loads[name];
        script.remove();
        failed(new Error(name));
      });
      document.head.append(script);
    });
    return loads[name];
  }

  // The engine as a function (call, ...given) that promises what comes back.
  function hired() {
    const waiting = {};
    const code = `const engine = (${window.posencLivingEngine})();
      onmessage = ({ data: [id, call, given] }) => postMessage([id, engine[call]?.(...given)]);`;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const worker = new Worker(address);
    let n = 0;
    worker.onmessage = ({ data: [id, found] }) => waiting[id](found);
    const ask = (call, ...given) =>
      new Promise((done) => {
        waiting[(n += 1)] = done;
        worker.postMessage([n, call, given]);
      });
    const refused = new Promise((_, failed) => (worker.onerror = failed));
    return Promise.race([ask("ready"), refused]).then(() => ask);
  }

  async function started() {
    await load("living-engine");
    try {
      return await hired();
    } catch {
      const engine = window.posencLivingEngine(); // no worker here: the page itself computes
      return async (call, ...given) => engine[call](...given);
    }
  }

  let engine = null;
  const known = {}; // the weights that the engine has, as promises

  async function prepared(name) {
    engine ??= started();
    engine.catch(() => (engine = null));
    const ask = await engine;
    await load(`living-${name}`);
    await (known[name] ??= ask("hold", ...held[name]));
    return ask;
  }

  const numbers = (text) => [...text.toLowerCase()].map((one) => Math.max(LETTERS.indexOf(one), 0));
  const seen = ({ text, length }) => numbers(text.slice(0, Number(length)));
  const words = (ids) => ids.map((id) => LETTERS[id]).join("");

  // All that the drawing and the sentence of a state need.
  async function answer(state) {
    const [name, slower, start] = [state.positions, Number(state.slower), Number(state.start)];
    const ask = await prepared(name);
    const ids = seen(state);
    if (!ids.length) ids.push(0);
    const found = await ask("read", name, ids, slower, start);
    if (state.look >= 1 && state.look <= ids.length) {
      found.heard = await ask("look", state.look - 1, ...state.head.split(",").map(Number));
    }
    if (state.writes === "on") {
      found.written = words(await ask("write", name, ids, slower, start, WRITTEN));
    }
    return found;
  }

  const row = (i) => TOP + LINE * i + (i >= LENGTH / COLUMNS ? GAP : 0);
  const place = (i) => [LEFT + CELL * (i % COLUMNS), row(Math.floor(i / COLUMNS))];

  function bar(i, nats) {
    const [x, y] = place(i);
    const tall = ((LANE - 1) * Math.min(nats, TALLEST)) / TALLEST;
    return `M${x + 1} ${y + LANE}v-${tall.toFixed(1)}h9v${tall.toFixed(1)}z`;
  }

  const ground = (i) => `M${place(i)[0]} ${place(i)[1] + LANE}h11v16h-11z`;
  const frame = (i) => `M${place(i)[0]} ${place(i)[1] + LANE - 1}h11v17h-11z`;

  function likeliest(shares, n) {
    const order = shares.map((_, i) => i).sort((i, j) => shares[j] - shares[i] || i - j);
    return order.slice(0, n);
  }

  function draw(view, state, { nats, heard }) {
    const ids = seen(state);
    const shown = words(ids).replaceAll(" ", "\u00a0").replaceAll("\n", "¶");
    for (let i = 0; i < ROWS; i += 1) {
      const letters = shown.slice(i * COLUMNS, (i + 1) * COLUMNS) || "\u00a0";
      view.part(`row-${i}`).textContent = letters;
    }
    for (let n = 0; n + 1 < STEPS.length; n += 1) {
      const own = nats.map((one, i) => [i + 1, one]);
      const some = own.filter(([, one]) => one >= STEPS[n] && one < STEPS[n + 1]);
      view.set(view.part(`bar-${n}`), { d: some.map(([i, one]) => bar(i, one)).join("") });
      view.set(view.part(`ground-${n}`), { d: some.map(([i]) => ground(i)).join("") });
    }
    const wide = (WIDTH - 2 * LEFT) / (COLUMNS * ROWS);
    const tall = (share) => `v-${(30 * share).toFixed(1)}h${wide}v${(30 * share).toFixed(1)}z`;
    const strip = heard?.map((share, s) => `M${LEFT + wide * s} ${STRIP + 46}${tall(share)}`);
    view.set(view.part("heard"), { d: strip?.join("") ?? "" });
    view.set(view.part("marks"), { d: heard ? likeliest(heard, 3).map(frame).join("") : "" });
    view.set(view.part("asks"), { d: heard ? frame(state.look - 1) : "" });
    view.part("told").textContent = heard
      ? "how much it hears of each letter, the first at the left:"
      : "drag over the letters: what does a head look at?";
    const compared = nats !== first.nats && reads(state) === reads(JSON.parse(first.key));
    view.part("rows").textContent = compared ? `${rows(nats)} ${before()}` : rows(nats);
  }

  const mean = (some) => some.reduce((sum, one) => sum + one, 0) / some.length;

  // What the bars show, for who does not see them.
  function rows(nats) {
    const told = [];
    for (let i = 0; i <= nats.length; i += COLUMNS) {
      const own = nats.slice(Math.max(i - 1, 0), i + COLUMNS - 1);
      if (own.length) told.push(mean(own).toFixed(1));
    }
    return `Mean surprise of each row, in nats: ${told.join(", ")}.`;
  }

  const reads = ({ text, length }) => `${length} letters of ${text}`;
  const before = () => rows(first.nats).replace("Mean surprise of each row, in nats", "At first");

  function means(nats) {
    if (!nats.length) return "a single letter cannot surprise.";
    const [first, beyond] = [nats.slice(0, LENGTH - 1), nats.slice(LENGTH - 1)];
    const told = `letters 1–${Math.min(nats.length + 1, LENGTH)}: ${mean(first).toFixed(2)} nats each`;
    return beyond.length ? `${told}; beyond ${LENGTH}: ${mean(beyond).toFixed(2)}.` : `${told}.`;
  }

  function named({ positions, slower, start }) {
    const clocks = positions !== "none" && positions !== "alibi";
    const slowed = clocks ? `, clocks slowed by ${slower}` : ", which has no clocks to slow";
    const from = Number(start) ? `, from place ${start} on` : "";
    return NAMES[positions] + (Number(slower) === 1 ? "" : slowed) + from;
  }

  const called = (id) => ({ " ": "a space", "\n": "a new line" })[LETTERS[id]] ?? `“${LETTERS[id]}”`;

  function expected(next) {
    const told = likeliest(next, 3).map((id) => `${called(id)} (${(100 * next[id]).toFixed(0)} %)`);
    return `${told.slice(0, -1).join(", ")} or ${told.at(-1)}`;
  }

  function told(state, { nats, next, heard, written }) {
    let said = `${named(state)}: ${means(nats)} Next it expects ${expected(next)}.`;
    if (heard) {
      const ids = seen(state);
      const most = likeliest(heard, 3).map(
        (s) => `${s + 1}, ${called(ids[s])} (${(100 * heard[s]).toFixed(0)} %)`,
      );
      said += ` Letter ${state.look}, ${called(ids[state.look - 1])}, hears most of ${most.join("; ")}.`;
    }
    return written ? `${said} It writes: “${written}”` : said;
  }

  const LOST = "A part of this page could not be loaded. Is there a network? Move a control to try again.";
  let found = null; // the state that was read last, as words, and what came
  let wanted = null; // the state to read next
  let busy = false;

  async function work(view) {
    busy = true;
    while (wanted) {
      const state = wanted;
      wanted = null;
      try {
        found = { key: JSON.stringify(state), ...(await answer(state)) };
        draw(view, state, found);
      } catch {
        found = { key: JSON.stringify(state), lost: true };
      }
    }
    busy = false;
    view.root.querySelector("[data-key]").dispatchEvent(new Event("input")); // redraws the rest
  }

  // A pointer on the letters says from which one to look.
  function pointed(view) {
    const svg = view.root.querySelector("svg");
    const input = view.root.querySelector('[data-key="look"]');
    let down = false;
    function look(event) {
      const at = new DOMPoint(event.clientX, event.clientY);
      const { x, y } = at.matrixTransform(svg.getScreenCTM().inverse());
      const column = Math.min(Math.max(Math.floor((x - LEFT) / CELL), 0), COLUMNS - 1);
      let line = ROWS - 1;
      while (line > 0 && y < row(line)) line -= 1;
      if (y > STRIP) return;
      input.value = line * COLUMNS + column + 1;
      input.dispatchEvent(new Event("input"));
    }
    svg.style.touchAction = "pan-y";
    svg.addEventListener("pointerdown", (event) => {
      down = !event.button;
      if (down) look(event);
    });
    svg.addEventListener("pointermove", (event) => down && look(event));
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(end, () => (down = false));
    }
  }

  // A text in the page's address; what else stands there is read by `explorables.js`.
  function recalled(view) {
    const [id, said] = location.hash.slice(1).split("?");
    const text = new URLSearchParams(id === view.root.id ? said : "").get("text");
    if (text === null) return;
    const input = view.root.querySelector("textarea");
    input.value = text.slice(0, input.maxLength);
    input.dispatchEvent(new Event("input"));
  }

  let first = null;

  function redraw(view, state, data) {
    const key = JSON.stringify(state);
    if (!first) {
      first = { key, ...data };
      pointed(view);
      recalled(view);
      // whoever comes near is likely to ask; so the first answer waits for less
      const near = () => prepared(state.positions).catch(() => {});
      for (const sign of ["pointerenter", "focusin"]) {
        view.root.addEventListener(sign, near, { once: true });
      }
      window.addEventListener("hashchange", () => recalled(view));
    }
    if (key === first.key) found = first;
    if (found?.key !== key) {
      wanted = state;
      view.root.setAttribute("aria-busy", "true");
      if (!busy) work(view);
      return view.root.querySelector(".explorable-summary").textContent;
    }
    wanted = null;
    view.root.removeAttribute("aria-busy");
    if (found.lost) {
      found = null;
      return LOST;
    }
    draw(view, state, found);
    return told(state, found);
  }

  const functions = { named, means, expected };
  window.posencExplorables.define("living-model", { functions, redraw });
})();
