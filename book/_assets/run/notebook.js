// Makes the cells of a page editable and runs them in a worker. Loaded by run.js on a click.

window.posencRun = (() => {
  "use strict";
  const TROUBLE = {
    network: ({ file, from }) =>
      `${file} could not be fetched from ${from}. Is there a network, and may this page use it? Then try again.`,
    answer: ({ file, from, details }) =>
      `${from} has no ${file} (it answered ${details}). The page needs another source; please tell who runs this site.`,
    checksum: ({ file, from }) =>
      `What ${from} gives as ${file} is not the file that this book was tested with: its SHA-256 differs. Nothing of it was run.`,
    package: ({ file, details }) => `The package ${file} could not be loaded. ${details}`,
    site: () => "A part of this site could not be loaded. Is there a network? Then try again.",
    memory: () =>
      "There was too little memory for Python on this page. Close other tabs, or make the numbers in the cell smaller.",
    broken: ({ details }) => `Python did not start or broke off: ${details}`,
    old: () =>
      "Python could not start: a part of the site did not come, or this browser is too old. A current Firefox, Chrome, Edge or Safari will do.",
  };
  const MEMORY = /memory|allocation|RangeError: (WebAssembly|Array buffer)/i;
  const cells = [];
  const api = { start, cells, state: "off" };
  let bar, plan, controls, worker, ready, answer, running;

  // --- small parts

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function button(label, action) {
    const made = make("button", { type: "button", textContent: label });
    made.addEventListener("click", action);
    return made;
  }

  function say(words) {
    controls.status.textContent = words;
  }

  function inside(name) {
    return new URL(name, new URL(bar.dataset.folder, location.href)).href;
  }

  function known(name) {
    return `${inside(name)}?v=${bar.dataset.version}`;
  }

  // --- the worker

  function startWorker() {
    api.state = "starting";
    controls.progress.hidden = false;
    controls.progress.removeAttribute("value");
    say("Fetching Python…");
    ready = new Promise((resolve, reject) => {
      answer = { resolve, reject };
    });
    ready.catch(() => {});
    worker = new Worker(known("worker.js"), { type: "module", name: "Python" });
    worker.addEventListener("message", ({ data }) => heard(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      lost({ reason: event.message ? "broken" : "old", details: event.message });
    });
    worker.postMessage({ do: "start", plan });
    buttons();
  }

  function heard(message) {
    if (message.kind === "progress") progress(message);
    if (message.kind === "starting") {
      controls.progress.removeAttribute("value");
      say("All files are as they should be. Python starts…");
    }
    if (message.kind === "ready") {
      api.state = "ready";
      controls.progress.hidden = true;
      say("Python is ready. A cell runs the cells above it first where they have not run yet.");
      answer.resolve();
      buttons();
    }
    if (message.kind === "output") running?.output(message.output);
    if (message.kind === "done") running?.done(message);
    if (message.kind === "failed") failed(message);
  }

  function progress({ done, total }) {
    if (api.state !== "starting") return;
    const mb = (bytes) => (bytes / 1e6).toFixed(0);
    controls.progress.max = total;
    controls.progress.value = done;
    // Said in steps, so that a screen reader can follow.
    const step = Math.floor((5 * done) / total);
    if (step !== controls.step) say(`Fetching Python: ${mb(done)} of ${mb(total)} MB`);
    controls.step = step;
  }

  // A package that a cell asked for is the cell's trouble, anything else that of the whole page.
  function failed(message) {
    const away = message.id !== undefined && message.reason !== "broken";
    if (!away) return lost(message);
    running?.output({ output_type: "error", ename: "", evalue: "", text: words(message) });
    running?.done({ ok: false, seconds: 0 });
  }

  function words(trouble) {
    const reason = MEMORY.test(trouble.details) ? "memory" : trouble.reason;
    return TROUBLE[reason]({ ...trouble, from: new URL(plan.source, document.baseURI).host });
  }

  function lost(trouble) {
    const told = words(trouble);
    halt();
    say(told);
    answer?.reject(new Error(told));
  }

  function halt() {
    worker?.terminate();
    worker = undefined;
    api.state = "stopped";
    controls.progress.hidden = true;
    for (const cell of cells) cell.ran = false;
    running?.stopped();
    running = undefined;
    buttons();
  }

  function stop() {
    halt();
    answer.reject(new Error("stopped"));
    say("Stopped. What the cells had computed is gone; the next run starts Python anew.");
  }

  function restart() {
    halt();
    for (const cell of cells) cell.told.textContent = "";
    startWorker();
  }

  // --- running

  // `asked` is the cell whose output is read aloud; none where all run.
  async function run(wanted, asked) {
    if (running) return false;
    if (!worker) startWorker();
    api.state = api.state === "ready" ? "running" : api.state;
    running = { output() {}, done() {}, stopped() {} }; // as long as Python starts
    buttons();
    let fine = true;
    try {
      await ready;
      api.state = "running";
      for (const cell of wanted) {
        fine = await runOne(cell, cell === asked);
        if (!fine) tellFailure(cell);
        if (!fine) break;
      }
      if (fine) say("Ready.");
    } catch {
      fine = false; // said where it happened
    }
    running = undefined;
    if (worker) api.state = "ready";
    buttons();
    return fine;
  }

  function tellFailure(cell) {
    const folded = cell.place.closest("details");
    if (folded) folded.open = true;
    cell.place.closest(".toggle-hidden")?.querySelector(".toggle-button").click(); // a solution
    cell.element.id ||= `run-cell-${cell.number}`;
    const link = make("a", { href: `#${cell.element.id}`, textContent: `Cell ${cell.number}` });
    controls.status.replaceChildren(link, " failed; what comes after it has not run.");
  }

  function runOne(cell, aloud) {
    const code = cell.editor.value;
    const outputs = [];
    const own = code !== cell.code;
    cell.place.setAttribute("aria-live", aloud ? "polite" : "off");
    cell.told.textContent = "Runs…";
    if (cells.indexOf(cell) % 5 === 0) say(`Cell ${cell.number} runs…`);
    return new Promise((resolve, reject) => {
      running = {
        output(output) {
          add(outputs, output);
          if (own) show(cell, outputs); // long prints of the reader's own appear as they come
        },
        done({ ok, seconds, digest }) {
          const same = ok && digest === cell.stored;
          Object.assign(cell, { ran: ok, outputs, same });
          if (same) showStored(cell, outputs);
          else show(cell, outputs);
          cell.told.textContent = verdict(cell, seconds);
          resolve(ok);
        },
        stopped() {
          cell.told.textContent = "Stopped.";
          reject(new Error("stopped"));
        },
      };
      buttons();
      worker.postMessage({ do: "run", id: cell.number, code, name: `cell ${cell.number}` });
    });
  }

  function verdict(cell, seconds) {
    const took = `${seconds.toFixed(1)} s`;
    if (!cell.ran) return "Failed; the reason stands below.";
    if (cell.editor.value !== cell.code) return `Ran in ${took}.`;
    if (!cell.outputs.length) return `Ran in ${took}, without an output.`;
    return `Ran in ${took}: the output ${cell.same ? "is the printed one" : "differs from the printed one"}.`;
  }

  function runTo(cell) {
    const at = cells.indexOf(cell);
    run(cells.filter((one, i) => one === cell || (i < at && !one.ran)), cell);
  }

  // --- outputs

  function add(outputs, output) {
    const last = outputs.at(-1);
    const more = output.output_type === "stream" && last?.name === output.name;
    if (more) last.text += output.text;
    else outputs.push({ ...output });
  }

  function picture(data) {
    if (data["image/png"]) return `data:image/png;base64,${data["image/png"]}`;
    return data["image/svg+xml"] && `data:image/svg+xml,${encodeURIComponent(data["image/svg+xml"])}`;
  }

  // The output is word for word the printed one, so what stands there stays: its number, its
  // caption, its typeset equations. Only the picture is the new one.
  function showStored(cell, outputs) {
    const drawn = outputs.map(({ data }) => data && picture(data)).filter(Boolean);
    cell.place.replaceChildren(...cell.nodes);
    cell.place.querySelectorAll("img").forEach((image, i) => {
      if (drawn[i]) image.src = drawn[i];
    });
  }

  function show(cell, outputs) {
    cell.place.replaceChildren(...outputs.map(element).filter(Boolean));
    for (const figure of cell.place.querySelectorAll("figure.explorable")) wake(figure.dataset.name);
    window.MathJax?.typesetPromise?.([cell.place]);
  }

  function element(output) {
    if (output.output_type === "stream") return said(output.text, output.name === "stderr");
    if (output.output_type === "error") return said(output.text, true);
    const { data, metadata = {} } = output;
    const image = picture(data);
    if (image) return figure(image, metadata.posenc, data["text/plain"]);
    if (data["text/html"]) {
      const block = make("div", { className: "output text_html", innerHTML: mathematics(data["text/html"]) });
      for (const table of block.querySelectorAll("table")) {
        const box = make("div", { className: "pst-scrollable-table-container", tabIndex: 0 });
        table.replaceWith(box);
        box.append(table);
      }
      return block;
    }
    return data["text/plain"] && said(data["text/plain"]);
  }

  function said(text, wrong = false) {
    const block = make("pre", { className: "posenc-run-said", textContent: text, tabIndex: 0 });
    block.classList.toggle("wrong", wrong);
    return block;
  }

  function figure(image, told, plain = "") {
    const alt = told?.alt ?? (plain.replace(/^\[|\]$/g, "") || "figure");
    const shown = make("figure", {}, make("img", { src: image, alt }));
    if (told?.caption) shown.append(make("figcaption", { textContent: told.caption }));
    return shown;
  }

  function mathematics(html) {
    return html.replace(/\$([^$]+)\$/g, '<span class="math">\\($1\\)</span>');
  }

  // A figure that answers needs its script, which another page may have linked.
  function wake(name) {
    const all = window.posencExplorables;
    if (all?.known[name]) return all.define(name, all.known[name]);
    const missing = all ? [name] : ["explorables", name];
    for (const one of missing) {
      document.head.append(make("script", { src: inside(`../${one}.js`), async: false }));
    }
    if (!all) document.head.append(make("link", { rel: "stylesheet", href: inside("../explorables.css") }));
    return undefined;
  }

  // --- cells

  function indent(event) {
    const { target: area } = event;
    if (event.key === "Enter" && (event.ctrlKey || event.shiftKey || event.metaKey)) {
      event.preventDefault();
      runTo(cells.find((cell) => cell.editor === area));
    } else if (event.key === "Enter" && !event.altKey && !event.isComposing) {
      const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
      const space = line.match(/^ */)[0] + (/:\s*(#.*)?$/.test(line) ? "    " : "");
      if (!space) return;
      event.preventDefault();
      const typed = document.execCommand?.("insertText", false, `\n${space}`); // can be undone
      if (!typed) area.setRangeText(`\n${space}`, area.selectionStart, area.selectionEnd, "end");
    }
  }

  function fit(area) {
    area.rows = Math.max(2, area.value.split("\n").length);
  }

  function newCell(code, stored, nodes = []) {
    const cell = { code, stored, nodes, ran: false };
    cell.editor = make("textarea", {
      value: code,
      spellcheck: false,
      autocomplete: "off",
      autocapitalize: "off",
      wrap: "off",
    });
    cell.editor.setAttribute("autocorrect", "off");
    cell.told = make("span");
    cell.told.setAttribute("role", "status");
    cell.run = button("Run", () => (running ? stop() : runTo(cell)));
    cell.undo = button("Undo changes", () => {
      cell.editor.value = cell.code;
      changed(cell);
      cell.editor.focus();
    });
    cell.undo.hidden = true;
    cell.add = button("New cell below", () => insertBelow(cell));
    cell.editor.addEventListener("input", () => changed(cell));
    cell.editor.addEventListener("keydown", indent);
    cell.box = make(
      "div",
      { className: "posenc-run-cell" },
      cell.editor,
      make("div", { className: "posenc-run-buttons" }, cell.run, cell.undo, cell.add, cell.told),
    );
    fit(cell.editor);
    return cell;
  }

  function changed(cell) {
    fit(cell.editor);
    cell.ran = false;
    cell.undo.hidden = cell.editor.value === cell.code;
  }

  function number() {
    cells.forEach((cell, i) => {
      cell.number = i + 1;
      cell.editor.setAttribute("aria-label", `Code of cell ${i + 1}`);
      cell.add.setAttribute("aria-label", `New cell below cell ${i + 1}`);
      cell.undo.setAttribute("aria-label", `Undo changes in cell ${i + 1}`);
    });
    buttons();
  }

  function insertBelow(above) {
    const cell = newCell("", null);
    cell.element = make("div", { className: "cell" }, cell.box);
    cell.place = place();
    cell.element.append(cell.place);
    const remove = button("Remove", () => {
      cells.splice(cells.indexOf(cell), 1);
      cell.element.remove();
      above.add.focus();
      number();
    });
    cell.add.after(remove);
    above.element.after(cell.element);
    cells.splice(cells.indexOf(above) + 1, 0, cell);
    number();
    cell.editor.focus();
  }

  function place() {
    return make("div", { className: "cell_output" });
  }

  function adopt(element, { code, shown, stored }) {
    const output = element.querySelector(".cell_output");
    const cell = newCell(code, stored, output ? [...output.childNodes] : []);
    const input = shown ? element.querySelector(".cell_input") : null;
    cell.element = element;
    cell.place = output ?? place();
    if (input) {
      input.replaceChildren(cell.box);
    } else {
      const folded = make("details", { className: "posenc-run-cell" });
      folded.append(make("summary", { textContent: "Code of this output" }), ...cell.box.childNodes);
      element.prepend(folded);
    }
    if (!output) element.append(cell.place);
    cells.push(cell);
  }

  // --- the bar

  function buttons() {
    bar.dataset.state = api.state;
    const busy = Boolean(running);
    controls.all.disabled = busy;
    controls.restart.disabled = busy || !worker;
    controls.stop.disabled = !worker;
    for (const cell of cells) {
      const mine = busy && cell.told.textContent === "Runs…";
      cell.run.textContent = mine ? "Stop" : "Run";
      cell.run.setAttribute("aria-label", `${mine ? "Stop" : "Run"} cell ${cell.number}`);
      cell.run.disabled = busy && !mine;
      cell.add.disabled = busy;
    }
  }

  function furnish() {
    const status = bar.querySelector("[role=status]");
    const line = bar.querySelector("p");
    controls = {
      status,
      progress: make("progress", { hidden: true }),
      all: button("Run all", () => run(cells)),
      restart: button("Restart", restart),
      stop: button("Stop", stop),
    };
    controls.progress.setAttribute("aria-label", "Fetching Python");
    controls.all.classList.add("first");
    const hint = make("span", {
      textContent: "Change a cell and run it: with its button, or with Ctrl and Enter in it.",
    });
    line.replaceChildren(controls.all, controls.restart, controls.stop, hint);
    line.after(controls.progress);
    controls.all.focus();
  }

  async function start(element) {
    bar = element;
    const again = bar.querySelector("button");
    const status = bar.querySelector("[role=status]");
    if (!window.Worker || !window.WebAssembly) {
      status.textContent = TROUBLE.old();
      return;
    }
    try {
      const response = await fetch(known(`pages/${bar.dataset.page}.json`));
      if (!response.ok) throw new Error(response.statusText);
      plan = await response.json();
    } catch {
      again.disabled = false;
      status.textContent = TROUBLE.site();
      return;
    }
    const { cells: stored } = plan;
    delete plan.cells;
    plan.source = new URL(plan.source, inside("../../")).href;
    plan.notebook = known("notebook.py");
    plan.package = known(plan.wheel);
    furnish();
    document.querySelectorAll("article div.cell").forEach((one, i) => adopt(one, stored[i]));
    number();
    startWorker();
  }

  return api;
})();
