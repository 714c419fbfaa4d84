// Python for one page. Fetches Pyodide and the packages that the page needs, holds each file
// against its checksum before anything of it runs, and then runs one cell after the other.
// A module, as Pyodide asks for one; it is loaded on the reader's click and never before.

const plainFetch = self.fetch.bind(self);
const waiting = new Map(); // address -> promise of its verified bytes
let plan;
let pyodide;
let kernel;
let current;
let done = 0;
let total = 0;

class Trouble extends Error {
  constructor(reason, file, details = "") {
    super(reason);
    Object.assign(this, { reason, file, details });
  }
}

const hex = (buffer) =>
  [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const base64 = (digest) =>
  btoa(digest.match(/../g).map((pair) => String.fromCharCode(parseInt(pair, 16))).join(""));

function tell(bytes) {
  done += bytes;
  postMessage({ kind: "progress", done, total });
}

async function read(response) {
  const parts = [];
  let length = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done: ended, value } = await reader.read();
    if (ended) break;
    parts.push(value);
    length += value.length;
    tell(value.length);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// Twice at most: what lies in the browser's cache may be another version of the file.
async function download(file, { sha256, bytes = 0 }) {
  total += bytes;
  for (const cache of ["force-cache", "reload"]) {
    const before = done;
    let content;
    try {
      // Where a page is not served safely there is no digest; then the browser itself compares.
      const options = crypto.subtle ? { cache } : { cache, integrity: `sha256-${base64(sha256)}` };
      const response = await plainFetch(plan.source + file, options);
      if (!response.ok) throw new Trouble("answer", file, String(response.status));
      content = await read(response);
    } catch (error) {
      throw error instanceof Trouble ? error : new Trouble("network", file, error.message);
    }
    if (!crypto.subtle || hex(await crypto.subtle.digest("SHA-256", content)) === sha256) {
      return content;
    }
    done = before;
  }
  throw new Trouble("checksum", file);
}

function verified(file, known) {
  const address = new URL(file, plan.source).href;
  if (!waiting.has(address)) {
    const content = download(file, known);
    content.catch(() => waiting.delete(address)); // said by who waits for it; asked for anew later
    waiting.set(address, content);
  }
  return waiting.get(address);
}

// Whatever Pyodide asks for among these files gets the bytes that were checked.
self.fetch = async (asked, options) => {
  const address = new URL(asked.url ?? asked, self.location).href;
  if (!waiting.has(address)) return plainFetch(asked, options);
  const content = await waiting.get(address);
  waiting.delete(address);
  const type = address.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(content, { headers: { "Content-Type": type } });
};

async function script(file) {
  const content = await verified(file, plan.runtime[file]);
  const address = URL.createObjectURL(new Blob([content], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

async function own(address) {
  const response = await plainFetch(address).catch(() => null);
  if (!response?.ok) throw new Trouble("site", address);
  return response;
}

// The packages of the lock file that are needed and not there, with all that they need.
function missing(names) {
  const { packages } = pyodide.lockfile;
  const found = new Set();
  const look = (name) => {
    const entry = packages[name];
    if (!entry || found.has(entry) || pyodide.loadedPackages[entry.name]) return;
    found.add(entry);
    entry.depends.forEach(look);
  };
  names.forEach(look);
  return [...found];
}

async function load(names) {
  const entries = missing(names);
  await Promise.all(
    entries.map(({ file_name: file, sha256 }) => verified(file, plan.wheels[file] ?? { sha256 })),
  );
  const wrong = [];
  const quiet = { messageCallback() {}, errorCallback: (words) => wrong.push(words) };
  await pyodide.loadPackage(names, quiet);
  const left = entries.filter(({ name }) => !pyodide.loadedPackages[name]);
  if (left.length) throw new Trouble("package", left[0].name, wrong.join(" "));
}

async function start(message) {
  plan = message.plan;
  for (const [file, known] of Object.entries({ ...plan.runtime, ...plan.wheels })) {
    verified(file, known);
  }
  const [loader, module, lock, code, wheel] = await Promise.all([
    script("pyodide.mjs"),
    script("pyodide.asm.mjs"),
    verified("pyodide-lock.json", plan.runtime["pyodide-lock.json"]),
    own(plan.notebook).then((response) => response.text()),
    own(plan.package).then((response) => response.arrayBuffer()),
    ...Object.entries(plan.runtime).map(([file, known]) => verified(file, known)),
  ]);
  postMessage({ kind: "starting" });
  pyodide = await loader.loadPyodide({
    createPyodideModule: module.default,
    env: { MPLBACKEND: "agg", MPLCONFIGDIR: "/tmp/matplotlib" },
    indexURL: plan.source,
    lockFileContents: JSON.parse(new TextDecoder().decode(lock)),
    packageBaseUrl: plan.source,
    stdout() {},
    stderr() {},
  });
  await load(plan.packages);
  pyodide.unpackArchive(wheel, "wheel");
  const scope = pyodide.toPy({ __name__: "posenc_page" });
  pyodide.runPython(code, { globals: scope, filename: "notebook.py" });
  kernel = scope.get("Kernel")((output) =>
    postMessage({ kind: "output", id: current, output: JSON.parse(output) }),
  );
  waiting.clear();
  postMessage({ kind: "ready" });
}

async function run({ id, code, name }) {
  current = id;
  const asked = JSON.parse(kernel.imports(code));
  const offered = Object.values(pyodide.lockfile.packages);
  const names = offered
    .filter((entry) => entry.imports.some((one) => asked.includes(one)))
    .map((entry) => entry.name);
  if (missing(names).length) await load(names);
  postMessage({ kind: "done", id, ...JSON.parse(kernel.run(code, name)) });
}

let turn = Promise.resolve();
self.onmessage = ({ data }) => {
  turn = turn.then(() => (data.do === "start" ? start(data) : run(data))).catch((error) => {
    const { reason = "broken", file = "", details = "" } = error;
    postMessage({ kind: "failed", id: data.id, reason, file, details: details || error.message });
  });
};
