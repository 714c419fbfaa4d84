// The reader's GPT (`program.py`) in JavaScript: one letter after another, earlier ones kept.
// A function of its own, so that its text can become a worker. `living.py` says where weights lie.

function posencLivingEngine() {
  "use strict";
  const [LENGTH, MOST, D, HEADS, LAYERS] = [64, 320, 64, 4, 2];
  const DH = D / HEADS;
  const models = {};
  let kept = { key: null };

  function numbers(base64, Kind) {
    const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    return new Kind(bytes.buffer);
  }

  // Take in the weights of an encoding.
  function hold(name, shapes, floats, bytes) {
    const [real, small] = [numbers(floats, Float32Array), numbers(bytes, Int8Array)];
    const weights = {};
    let [i, j] = [0, 0];
    for (const [key, rows, columns = 0] of shapes) {
      const own = real.subarray(i, (i += rows)); // a vector, or the scales of a matrix
      const matrix = small.subarray(j, (j += rows * columns));
      const scaled = (one, at) => one * own[Math.floor(at / columns)];
      weights[key] = columns ? Float32Array.from(matrix, scaled) : own;
    }
    models[name] = weights;
  }

  function linear(weights, name, x) {
    const [w, b] = [weights[`${name}.weight`], weights[`${name}.bias`]];
    const [y, n] = [new Float32Array(b.length), x.length];
    for (let j = 0, at = 0; j < y.length; j += 1, at += n) {
      let [even, odd] = [b[j], 0]; // two sums at once are faster than one
      for (let k = 0; k < n; k += 2) {
        even += x[k] * w[at + k];
        odd += x[k + 1] * w[at + k + 1];
      }
      y[j] = even + odd;
    }
    return y;
  }

  function norm(weights, name, x) {
    const [w, b] = [weights[`${name}.weight`], weights[`${name}.bias`]];
    let [mean, variance] = [0, 0];
    for (const one of x) mean += one / D;
    for (const one of x) variance += (one - mean) ** 2 / D;
    const scale = 1 / Math.sqrt(variance + 1e-5);
    return x.map((one, k) => (one - mean) * scale * w[k] + b[k]);
  }

  function erf(x) {
    const t = 1 / (1 + 0.3275911 * Math.abs(x)); // Abramowitz and Stegun, 7.1.26
    const series =
      ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) *
      t;
    return Math.sign(x) * (1 - series * Math.exp(-x * x));
  }

  const gelu = (x) => 0.5 * x * (1 + erf(x / Math.SQRT2));
  const plus = (x, y) => x.map((one, k) => one + y[k]);
  const geometric = (d) => Array.from({ length: d / 2 }, (_, i) => 10000 ** ((-2 * i) / d));

  function stretch(omega, factor, length = LENGTH, slow = 1, fast = 4) {
    return omega.map((one) => {
      const turns = (length * one) / (2 * Math.PI);
      const keep = Math.min(Math.max((turns - slow) / (fast - slow), 0), 1);
      return one * (keep + (1 - keep) / factor);
    });
  }

  // Turn each pair of numbers of a row, (heads, d_head), by its clock's angle at a place.
  function turn(row, place, omega) {
    for (let pair = 0; pair < DH / 2; pair += 1) {
      const [cos, sin] = [Math.cos(place * omega[pair]), Math.sin(place * omega[pair])];
      for (let i = 2 * pair; i < D; i += DH) {
        const [a, b] = [row[i], row[i + 1]];
        row[i] = a * cos - b * sin;
        row[i + 1] = a * sin + b * cos;
      }
    }
  }

  // Turn scores into weights, in place.
  function softmax(scores) {
    let [top, sum] = [-Infinity, 0];
    for (const one of scores) top = Math.max(top, one);
    for (let s = 0; s < scores.length; s += 1) sum += scores[s] = Math.exp(scores[s] - top);
    for (let s = 0; s < scores.length; s += 1) scores[s] /= sum;
    return scores;
  }

  function begin(name, slower, start) {
    const key = [name, slower, start].join();
    if (kept.key === key) return;
    const room = () => new Float32Array(MOST * D); // a row for each letter
    const memory = () => ({ q: room(), k: room(), v: room() });
    kept = { key, name, start, ids: [], scores: [], layers: Array.from({ length: LAYERS }, memory) };
    kept.wide = stretch(geometric(D), slower);
    kept.omega = stretch(geometric(DH), slower);
  }

  // How much the letter at t hears of each letter up to itself, in one head.
  function weights(t, layer, head) {
    const { q, k } = kept.layers[layer];
    const slope = kept.name === "alibi" ? 2 ** ((-8 * (head + 1)) / HEADS) : 0;
    const scores = new Float64Array(t + 1);
    const asks = q.subarray(t * D + head * DH, t * D + (head + 1) * DH);
    for (let s = 0, at = head * DH; s <= t; s += 1, at += D) {
      let sum = 0;
      for (let i = 0; i < DH; i += 1) sum += asks[i] * k[at + i];
      scores[s] = sum / Math.sqrt(DH) - slope * (t - s);
    }
    return softmax(scores);
  }

  function attend(model, x, t, layer) {
    const [own, at] = [kept.layers[layer], `layers.${layer}.attention`];
    const qkv = linear(model, `${at}.qkv`, x);
    const turned = { rope: "qk", message: "qkv" }[kept.name] ?? "";
    ["q", "k", "v"].forEach((one, i) => {
      const row = qkv.subarray(i * D, (i + 1) * D);
      if (turned.includes(one)) turn(row, kept.start + t, kept.omega);
      own[one].set(row, t * D);
    });
    const [heard, v] = [new Float32Array(D), own.v];
    for (let head = 0; head < HEADS; head += 1) {
      const shares = weights(t, layer, head);
      for (let s = 0, first = head * DH; s <= t; s += 1) {
        for (let i = first; i < first + DH; i += 1) heard[i] += shares[s] * v[s * D + i];
      }
    }
    if (kept.name === "message") turn(heard, -kept.start - t, kept.omega);
    return linear(model, `${at}.out`, heard);
  }

  // Read one more letter, and keep what later ones need.
  function step(id) {
    const [model, t] = [models[kept.name], kept.ids.length];
    let x = model["words.weight"].slice(id * D, (id + 1) * D);
    if (kept.name === "sinusoid") {
      const angle = (k) => (kept.start + t) * kept.wide[k >> 1];
      x = x.map((one, k) => one + (k % 2 ? Math.cos(angle(k)) : Math.sin(angle(k))));
    }
    for (let layer = 0; layer < LAYERS; layer += 1) {
      const at = `layers.${layer}`;
      x = plus(x, attend(model, norm(model, `${at}.norms.0`, x), t, layer));
      const wide = linear(model, `${at}.feed.0`, norm(model, `${at}.norms.1`, x)).map(gelu);
      x = plus(x, linear(model, `${at}.feed.2`, wide));
    }
    kept.scores[t] = linear(model, "head", x);
    kept.ids.push(id);
  }

  // The scores of all letters behind each letter of a text; what was read before is not read again.
  function scores(name, ids, slower, start) {
    if (ids.length > MOST) throw new RangeError(`ids must be at most ${MOST}, got ${ids.length}`);
    begin(name, slower, start);
    let same = 0;
    while (same < ids.length && kept.ids[same] === ids[same]) same += 1;
    kept.ids.length = same;
    for (const id of ids.slice(same)) step(id);
    return kept.scores.slice(0, ids.length);
  }

  // How much each letter but the first surprises, in nats; and how likely each letter is next.
  function read(name, ids, slower, start) {
    const rows = scores(name, ids, slower, start).map((row) => softmax(Float64Array.from(row)));
    const nats = ids.slice(1).map((id, t) => -Math.log(rows[t][id]));
    return { nats, next: [...rows[rows.length - 1]] };
  }

  // The weights of one head, from a letter of a text that has just been read.
  const look = (t, layer, head) => [...weights(t, layer, head)];

  // Go on from a text, as the program's `write` does; a seed gives the same luck each time.
  function write(name, ids, slower, start, n, seed = 1, temperature = 0.5) {
    const all = [...ids];
    for (let luck = seed; all.length < ids.length + n; ) {
      const rows = scores(name, all, slower, start);
      const row = Float64Array.from(rows[rows.length - 1], (one) => one / temperature);
      luck = (Math.imul(luck, 1664525) + 1013904223) >>> 0;
      let left = luck / 2 ** 32;
      const id = softmax(row).findIndex((share) => (left -= share) < 0);
      all.push(Math.max(id, 0));
    }
    return all.slice(ids.length);
  }

  return { hold, scores, read, look, write, stretch, gelu };
}
