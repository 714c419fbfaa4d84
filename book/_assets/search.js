// The search: which sections of the book answer a question. The index is made by tools/site_search.py
// and loaded as a script, since a page that was opened from a folder may not fetch.
//
// BM25 by section: a word counts the more, the fewer sections have it. It counts most in the words
// that book/search.yml says a section is asked for and in its heading, less in its chapter's title,
// least in its text. A question is rarely worded as its answer is, so no word has to be there; but
// a section that has more of the question stands above one that has the same word often.
(() => {
  const FIELD = { asked: 1, title: 0.9, page: 0.25 };
  const [SATURATION, BY_LENGTH, TEXT, PHRASE] = [1.6, 0.55, 0.6, 1.5];
  const [OTHER_WORD, LITTLE, NO_HEADING, TYPING, SPELT_OTHERWISE] = [0.85, 0.12, 0.5, 0.5, 0.6];
  const OF_MESSAGE = 0.6;  // share of an error message's words that somebody pasted
  // A name such as SelfAttention counts as its words and as one.
  function words(text) {
    const plain = text.normalize("NFKC");
    const names = plain.match(/\p{L}*[a-z]{3}[A-Z][a-z]{3}\p{L}*/gu) ?? [];
    const all = [plain.replace(/([a-z]{3})([A-Z][a-z]{3})/g, "$1 $2"), ...names].join(" ");
    return all.toLowerCase().replace(/['’](s|t|re|ve|ll|d|m)\b/g, "").replace(/(\d),(?=\d{3})/g, "$1").match(/[\p{L}\p{N}]+/gu) ?? [];
  }

  // Cut the endings of English, and no more than that two forms of a word meet.
  const stems = new Map();
  function stem(word) {
    if (!stems.has(word)) stems.set(word, cut(word));
    return stems.get(word);
  }

  function cut(word) {
    if (/\d|^embed$/.test(word) || word.length < 4) return word;
    let short = word.replace(/ies$/, "y").replace(/([^su])s$/, "$1").replace(/iz(e|ed|ing|ation)$/, "is$1");
    const bare = short.replace(/(ational|ation|ating|ated|ator|ate|ing|ied|ed|er|est|ly|al|e|y)$/, "");
    if (bare.length >= 3 && /[aeiouy]/.test(bare)) short = bare;
    return short.replace(/([bdgmnprt])\1$/, "$1");
  }

  let index;  // what the build made, with words brought to their stems

  function load(made) {
    const sections = made.sections.map(([page, anchor, title, beginning, weight, length]) => (
      { page, anchor, title, beginning, weight, length }));
    const found = new Map();  // stem: section: [frequency in the text, weight of other fields]
    const of = (word) => {
      const one = stem(word);
      if (!found.has(one)) found.set(one, new Map());
      return found.get(one);
    };
    for (const [word, packed] of Object.entries(made.words)) {
      const where = of(word);
      let number = 0;
      for (const one of packed.split(",")) {
        const [step, times = 1] = one.split(":");
        number += parseInt(step, 36);
        const there = where.get(number);
        if (there) there[0] += Number(times);
        else where.set(number, [Number(times), 0]);
      }
    }
    const phrases = [];
    const field = (text, number, weight) => {
      const all = new Set(words(text));
      for (const word of all) {
        const where = of(word);
        if (!where.has(number)) where.set(number, [0, 0]);
        where.get(number)[1] = Math.max(where.get(number)[1], weight);
      }
      if (weight < FIELD.title) return;
      const stems = new Set([...all].filter((word) => !made.little.includes(word)).map(stem));
      if (stems.size) phrases.push({ number, weight, stems });
    };
    sections.forEach((section, number) => {
      field(made.pages[section.page].title, number, FIELD.page);
      field(section.title, number, FIELD.title);
      for (const asked of made.asked[number] ?? []) field(asked, number, FIELD.asked);
    });
    const headings = new Set(phrases.flatMap((phrase) => [...phrase.stems]));
    const same = new Map();  // words in a row: what else is said for them
    const note = (phrase, others) => {
      const key = words(phrase).map(stem).join(" ");
      same.set(key, [...(same.get(key) ?? []), ...others.map((other) => words(other).map(stem))]);
    };
    for (const group of made.same) {
      for (const one of group) note(one, group.filter((other) => other !== one));
    }
    for (const [typed, ours] of made.typed) note(typed, ours);
    const messages = made.messages.map(([text, number]) => (
      { text, number, stems: new Set(words(text).map(stem)) }));
    const mean = sections.reduce((sum, one) => sum + one.length, 0) / sections.length;
    index = { pages: made.pages, little: new Set(made.little), sections, found, phrases, headings, same, messages, mean };
  }

  const rarity = (n) => Math.log(1 + index.sections.length / (n || 1));
  const sections = (one) => index.found.get(one)?.size;

  // What is asked for: a list of things, each with one or more ways to say it.
  function things(query) {
    const all = words(query);
    const result = [];
    for (let from = 0; from < all.length;) {
      let to = Math.min(all.length, from + 5);
      const key = () => all.slice(from, to).map(stem).join(" ");
      while (to > from + 1 && !index.same.has(key())) to--;
      const typed = all.slice(from, to).map(stem);
      const little = typed.every((one, number) => index.little.has(all[from + number]));
      const ways = [{ stems: typed, weight: 1 }];
      for (const other of index.same.get(key()) ?? []) ways.push({ stems: other, weight: OTHER_WORD });
      if (!little) ways.push(...guesses(typed, to === all.length && !/\s$/.test(query)));
      result.push({ ways, little });
      from = to;
    }
    return result;
  }

  // What somebody may mean who is still typing, or who spells a word otherwise.
  function guesses(typed, last) {
    const [one] = typed;
    if (typed.length > 1 || one.length < 3 || (index.found.has(one) && !last)) return [];
    const all = [...index.found.keys()];
    let like = all.filter((other) => other !== one && other.startsWith(one)).slice(0, 40);
    const weight = index.found.has(one) || like.length ? TYPING : SPELT_OTHERWISE;
    if (!index.found.has(one) && !like.length && one.length > 3) {
      const most = one.length > 7 ? 2 : 1;
      like = all.filter((other) => Math.abs(other.length - one.length) <= most && apart(one, other) <= most);
    }
    return like.map((other) => ({ stems: [other], weight }));
  }

  // How many letters have to be changed, put in, left out or swapped with the next one.
  function apart(one, other) {
    let [before, last] = [[], [...Array(other.length + 1).keys()]];
    for (let i = 1; i <= one.length; i++) {
      const row = [i];
      for (let j = 1; j <= other.length; j++) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] !== other[j - 1]));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
          row[j] = Math.min(row[j], before[j - 2] + 1);
        }
      }
      [before, last] = [last, row];
    }
    return last[other.length];
  }

  // What a thing is worth in each section that speaks of it: a Map of numbers from 0 to 1.
  function spoken(ways) {
    const result = new Map();
    for (const { stems: said, weight } of ways) {
      const [first, ...more] = said.map((one) => index.found.get(one) ?? new Map());
      for (const number of first.keys()) {
        if (!more.every((list) => list.has(number))) continue;
        const long = 1 - BY_LENGTH + (BY_LENGTH * index.sections[number].length) / index.mean;
        const each = [first, ...more].map((list) => {
          const [text, other] = list.get(number);
          const often = text / long;
          return (1 - TEXT) * other + (TEXT * often) / (SATURATION + often);
        });
        const value = weight * Math.min(...each);
        if (value > (result.get(number) ?? 0)) result.set(number, value);
      }
    }
    return result;
  }

  // How nearly a heading, or what a section is asked for, is the whole question: a Map.
  function alike(asked) {
    const real = asked.filter((thing) => !thing.little && thing.rarity);
    const whole = real.reduce((sum, thing) => sum + thing.rarity, 0);
    const result = new Map();
    for (const { number, weight, stems: own } of index.phrases) {
      let [there, left] = [0, new Set(own)];
      for (const { ways, rarity: rare } of real) {
        const way = ways.find((one) => one.stems.every((part) => own.has(part)));
        if (!way) continue;
        there += rare * way.weight;
        for (const part of way.stems) left.delete(part);
      }
      if (!there) continue;
      const more = [...left].reduce((sum, one) => sum + rarity(sections(one)), 0);
      const value = weight * (there / (whole + more)) ** 2;
      if (value > (result.get(number) ?? 0)) result.set(number, value);
    }
    return [result, whole];
  }

  function find(query, most = 20) {
    const scores = new Map();
    let whole = 0;
    const asked = things(query);
    const real = asked.some((thing) => !thing.little);
    for (const thing of asked) {
      const where = spoken(thing.ways);
      if (!where.size) continue;
      const told = thing.ways.some((way) => way.stems.every((one) => index.headings.has(one)));
      thing.rarity = rarity(where.size) * (told ? 1 : NO_HEADING);
      const weight = thing.rarity * (thing.little && real ? LITTLE : 1);
      whole += weight;
      for (const [number, value] of where) {
        const [sum, share] = scores.get(number) ?? [0, 0];
        scores.set(number, [sum + weight * value, share + weight]);
      }
    }
    const [phrases, most_] = alike(asked);
    const ranked = [...scores].map(([number, [sum, share]]) => {
      const score = sum * (share / whole) + PHRASE * most_ * (phrases.get(number) ?? 0);
      return { number, score: score * index.sections[number].weight };
    });
    ranked.sort((one, other) => other.score - one.score || one.number - other.number);
    const marked = new Set(asked.flatMap(({ ways, little }) => (little ? [] : ways.flatMap((way) => way.stems))));
    const all = [...pasted(query), ...named(query), ...varied(ranked)];
    const first = new Map([...all].reverse().map((one) => [one.message ?? one.number, one]));
    const hits = all.filter((one) => first.get(one.message ?? one.number) === one).slice(0, most);
    return hits.map(({ number, message, score }) => hit(number, message, score, marked));
  }

  // Error messages of the library of which most was pasted, the fullest first.
  function pasted(query) {
    const typed = new Set(words(query).map(stem));
    const sum = (all) => all.reduce((total, one) => total + rarity(sections(one)), 0);
    return index.messages
      .map(({ text, number, stems: own }) => {
        const there = [...own].filter((one) => typed.has(one));
        const share = sum(there) / sum([...own]);
        return { number, message: text, score: there.length < 4 ? 0 : share * share * sum(there), share };
      })
      .filter(({ score, share }) => score > 0 && share >= OF_MESSAGE)
      .sort((one, other) => other.score - one.score)
      .slice(0, 2);
  }

  // What has the very name that was typed, such as draw_heatmap.
  function named(query) {
    const name = query.trim();
    if (!/[a-z][_A-Z]\w/.test(name)) return [];
    return index.sections.flatMap(({ title }, number) => (title === name ? [{ number, score: 0 }] : []));
  }

  // A page's third section and those after it stand behind the next pages' first ones.
  function varied(ranked) {
    const times = new Map();
    return ranked.slice(0, 60).map((one) => {
      const { page } = index.sections[one.number];
      times.set(page, (times.get(page) ?? 0) + 1);
      return { ...one, score: one.score * (times.get(page) > 2 ? 0.8 : 1) };
    }).sort((one, other) => other.score - one.score);
  }

  function hit(number, message, score, marked) {
    const { page, anchor, title, beginning } = index.sections[number];
    const { path, title: chapter, part } = index.pages[page];
    return { page: path, anchor, title, chapter, part, beginning, message, score, marked };
  }

  const isMarked = (word, marked) => words(word).some((one) => !index.little.has(one) && marked.has(stem(one)));

  window.posencSearch = { load, find, isMarked, words, stem };
})();
