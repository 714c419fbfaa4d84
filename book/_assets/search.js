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
  const [OTHER_WORD, LITTLE, NO_HEADING, TYPING, SPELT_OTHERWISE, WITH] = [0.85, 0.12, 0.5, 0.5, 0.6, 0.3];
  const OF_MESSAGE = 0.6;  // share of an error message's words that somebody pasted
  const MOST_GUESSES = 30;  // words of a question that the book does not have
  const SHORT = 3;  // words of a question each of which it is about
  const CAMEL = /[a-z]{3}[A-Z][a-z]{3}/;

  // A name such as SelfAttention or rotate_half counts as its words and as one.
  function words(text) {
    const plain = text.normalize("NFKC");
    const names = plain.match(/\p{L}*[a-z]{3}[A-Z][a-z]{3}\p{L}*/gu) ?? [];
    const whole = plain.match(/\p{L}[\p{L}\p{N}_]*_[\p{L}\p{N}_]*[\p{L}\p{N}]|\d*::\d+/gu) ?? [];
    const all = [plain.replace(/([a-z]{3})([A-Z][a-z]{3})/g, "$1 $2"), ...names].join(" ");
    const split = all.toLowerCase().replace(/['’](s|t|re|ve|ll|d|m)\b/g, "").replace(/(\d),(?=\d{3})/g, "$1").match(/[\p{L}\p{N}]+/gu) ?? [];
    return [...split, ...whole.map((name) => name.toLowerCase())];
  }

  // Cut the endings of English, and no more than that two forms of a word meet; no name is cut.
  const stems = new Map();
  let names = new Set();
  function stem(word) {
    if (!stems.has(word)) stems.set(word, cut(word));
    return stems.get(word);
  }

  function cut(word) {
    if (/\d|^embed$/.test(word) || word.length < 4 || names.has(word)) return word;
    let short = word.replace(/ies$/, "y").replace(/([^su])s$/, "$1").replace(/iz(e|ed|ing|ation)$/, "is$1");
    if (names.has(short)) return short;
    if (word.length > 5) short = short.replace("our", "or");
    const bare = short.replace(/(ational|ation|ating|ated|ator|ate|ing|ied|ed|er|est|ly|al|e|y)$/, "");
    if (bare.length >= 3 && /[aeiouy]/.test(bare)) short = bare;
    return short.replace(/([bdgmnprt])\1$/, "$1").replace(/ell$/, "el");
  }

  let index;  // what the build made, with words brought to their stems
  let beginnings = [];

  // Where a section stands, if it does not say so: the page itself, or what follows from its title.
  const slug = (title) => title.normalize("NFKD").replace(/[^\0-\x7f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

  // Hands on the number of each section and how often it has the word, as site_search.py packs them.
  function unpack(packed, hand) {
    let [number, high] = [0, 0];
    for (let at = 0; at < packed.length; at++) {
      const code = packed.charCodeAt(at);
      if (code < 97) {
        high = 26 * high + code - 65;
        continue;
      }
      number += 26 * high + code - 97;
      high = 0;
      const digit = packed.charCodeAt(at + 1) - 48;
      if (digit < 10) at++;
      hand(number, digit < 10 ? digit : 1);
    }
  }

  function load(made) {
    const sections = made.sections.flatMap((rows, page) => rows.map(
      ([title, weight, length, anchor = slug(title)]) => ({ page, anchor, title, weight: weight / 100, length })));
    const little = new Set(made.little);
    names = new Set(made.names.split(" "));
    const found = new Map();  // stem: section: [frequency in the text, weight of other fields]
    const of = (word) => {
      const one = stem(word);
      if (!found.has(one)) found.set(one, new Map());
      return found.get(one);
    };
    const packed = made.words.split(" ");
    for (let at = 0, word = ""; at < packed.length; at += 2) {
      word = word.slice(0, Number(packed[at][0])) + packed[at].slice(1);
      const where = of(word);
      unpack(packed[at + 1], (number, times) => {
        const there = where.get(number);
        if (there) there[0] += times;
        else where.set(number, [times, 0]);
      });
    }
    const telling = (all) => {  // words that say something, or all where none does
      const some = all.filter((word) => !little.has(word));
      return some.length ? some : all;
    };
    const phrases = [];
    const field = (text, number, weight) => {
      const all = words(text);
      for (const word of all) {
        const where = of(word);
        if (!where.has(number)) where.set(number, [0, 0]);
        where.get(number)[1] = Math.max(where.get(number)[1], weight);
      }
      if (weight < FIELD.title) return;
      const stems = new Set(all.filter((word) => !little.has(word)).map(stem));
      if (stems.size) phrases.push({ number, weight, stems });
    };
    const key = (phrase) => words(phrase).map(stem).join(" ");
    sections.forEach((section, number) => {
      section.key = key(section.title);
      field(made.pages[section.page].title, number, FIELD.page);
      field(section.title, number, FIELD.title);
      for (const asked of made.asked[number] ?? []) field(asked, number, FIELD.asked);
    });
    const headings = new Map();  // stem: the phrases that have it
    for (const phrase of phrases) {
      for (const one of phrase.stems) {
        if (!headings.has(one)) headings.set(one, []);
        headings.get(one).push(phrase);
      }
    }
    const same = new Map();  // words in a row: what else is said for them
    const note = (phrase, others) => {
      same.set(key(phrase), [...(same.get(key(phrase)) ?? []), ...others.map((other) => telling(words(other)).map(stem))]);
    };
    for (const group of made.same) {
      for (const one of group) note(one, group.filter((other) => other !== one));
    }
    for (const [typed, ours] of made.typed) note(typed, ours);
    const messages = made.messages.map(([text, number]) => (
      { text, number, stems: new Set(words(text).map(stem)) }));
    const mean = sections.reduce((sum, one) => sum + one.length, 0) / sections.length;
    const negated = Object.fromEntries(Object.entries(made.negated).map(([name, all]) => [name, new Set(all.map(key))]));
    const absent = new Set(made.absent.map(key));
    index = { pages: made.pages, ask: made.ask, absent, little, sections, found, headings, same, messages, negated, mean, telling };
  }

  const tell = (all) => { beginnings = all; };  // how each section begins

  const rarity = (n) => Math.log(1 + index.sections.length / (n || 1));
  const sections = (one) => index.found.get(one)?.size;

  // What is asked for: a list of things, each once, with one or more ways to say it.
  function things(query) {
    const [all, foreign] = [words(query), strange(query)];
    const result = [];
    for (let from = 0; from < all.length; from += result.at(-1).span.length) {
      result.push(thing(phrase(all, from)));
      if (foreign.has(all[from])) Object.assign(result.at(-1), { unknown: true, ways: [] });
    }
    const typing = /\s$/.test(query) ? [] : result.slice(-1);
    const unknown = result.filter((one) => one.unknown && one.ways.length).slice(0, MOST_GUESSES);
    for (const one of new Set([...unknown, ...typing])) one.ways.push(...guesses(one));
    return [...new Map(withoutWhat(result).map((one) => [one.key, one])).values()];
  }

  // The words from a place on that are said as one, or the word there.
  function phrase(all, from) {
    for (let n = Math.min(5, all.length - from); n > 1; n--) {
      const key = all.slice(from, from + n).map(stem).join(" ");
      if (index.same.has(key) || index.absent.has(key)) return all.slice(from, from + n);
    }
    return [all[from]];
  }

  function thing(span) {
    const key = span.map(stem).join(" ");
    if (index.absent.has(key)) return { span, key, unknown: true, ways: [] };
    const others = index.same.get(key) ?? [];
    const little = !others.length && span.every((one) => index.little.has(one));
    const unknown = !others.length && !little && !index.found.has(key);
    const ways = [{ stems: index.telling(span).map(stem), weight: 1 }, ...others.map((stems) => ({ stems, weight: OTHER_WORD }))];
    return { span, key, little, unknown, ways };
  }

  // "Lack of", "omits the" or "no" in front of what may be missing are one thing with it.
  function withoutWhat(all) {
    const { by, what, meaning: [key] } = index.negated;
    const ways = [key.split(" "), ...index.same.get(key)].map((stems) => ({ stems, weight: 1 }));
    const real = all.filter((one) => !one.little);
    const pairs = new Map(real.map((one, at) => [one, real[at + 1]]).filter(([one, next]) => by.has(one.key) && what.has(next?.key)));
    const taken = new Set(pairs.values());
    return all.filter((one) => !taken.has(one)).map((one) => (pairs.has(one)
      ? { span: one.span, key, ways: [...ways, ...pairs.get(one).ways.map((way) => ({ ...way, weight: WITH }))] } : one));
  }

  // Names such as FoX, told by a capital inside, that the book does not write: no other word is meant.
  function strange(query) {
    const typed = query.normalize("NFKC").match(/(?<![\p{L}\p{N}_])\p{L}[\p{L}\p{N}]*(?![\p{L}\p{N}_])/gu) ?? [];
    if (typed.length > 2 && !/\p{Ll}/u.test(query)) return new Set();  // somebody shouts
    const inside = typed.filter((one) => /\p{L}.*\p{Lu}/u.test(one) && !CAMEL.test(one)).map((one) => one.toLowerCase());
    const begun = (one) => query.toLowerCase().endsWith(one) && [...names].some((name) => name.startsWith(one));
    return new Set(inside.filter((one) => !names.has(one) && !index.same.has(stem(one)) && !begun(one)));
  }

  // What somebody may mean who is still typing, or who spells a word otherwise.
  function guesses({ span, little, ways }) {
    if (little || !ways.length || span.length > 1) return [];
    const one = stem(span[0]);
    const known = index.found.has(one);
    const all = [...index.found.keys()];
    const longer = one.length < 3 ? [] : all.filter((other) => other !== one && other.startsWith(one)).slice(0, 40);
    const most = one.length > 7 ? 2 : 1;
    const alike = known || longer.length || one.length < 4 ? []
      : all.filter((other) => Math.abs(other.length - one.length) <= most && apart(one, other) <= most);
    const as = (list, weight) => list.map((other) => ({ stems: [other], weight }));
    return [...known ? [] : halves(one), ...as(longer, TYPING), ...as(alike, SPELT_OTHERWISE)];
  }

  // Two words that often stand in one section and were written as one, such as timestamps.
  function halves(one) {
    const cuts = [...Array(Math.max(0, one.length - 5)).keys()].map((at) => [one.slice(0, at + 3), one.slice(at + 3)].map(stem));
    const often = (both) => {
      const [few, many] = both.map((half) => index.found.get(half) ?? new Map()).sort((a, b) => a.size - b.size);
      return few.size && 2 * [...few.keys()].filter((number) => many.has(number)).length > few.size;
    };
    return cuts.filter(often).map((stems) => ({ stems, weight: OTHER_WORD }));
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
    const some = new Set(real.flatMap(({ ways }) => ways.flatMap(({ stems: [first] }) => index.headings.get(first) ?? [])));
    for (const { number, weight, stems: own } of some) {
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
    const all = [...titled(query), ...pasted(query), ...named(query), ...varied(ranked)];
    const first = new Map([...all].reverse().map((one) => [one.message ?? one.number, one]));
    const hits = all.filter((one) => first.get(one.message ?? one.number) === one).slice(0, most);
    return hits.map(({ number, message, score }) => hit(number, message, score, marked));
  }

  // What of a question the book does not have, as it was typed: names, or the words of a short question.
  function missing(query) {
    const real = things(query).filter(({ little }) => !little);
    const typed = query.normalize("NFKC").trim();
    const asTyped = (text) => typed.slice(typed.toLowerCase().indexOf(text)).slice(0, text.length);
    const meant = ({ ways }) => ways.some(({ weight }) => weight === TYPING || weight === OTHER_WORD);
    const all = real.filter((one) => one.unknown && !meant(one)).map(({ span }) => asTyped(span.join(" ")));
    const isName = (one) => /\p{Lu}/u.test(one) && !typed.startsWith(one);
    return all.filter((one) => /^[\p{L} ]{3,}$/u.test(one) && !CAMEL.test(one) && (real.length <= SHORT || isName(one)));
  }

  // Where a reader can ask for what is not there.
  const ask = (query) => `${index.ask}/issues/new?title=${encodeURIComponent(`Not found by the search: ${query.slice(0, 200)}`)}`;

  // Error messages of the library of which most was pasted, the fullest first, one for each answer.
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
      .filter(({ number }, at, all) => all.findIndex((one) => one.number === number) === at)
      .slice(0, 2);
  }

  // What has the very name that was typed, such as draw_heatmap.
  function named(query) {
    const name = query.trim();
    if (!/[a-z][_A-Z]\w/.test(name)) return [];
    return index.sections.flatMap(({ title }, number) => (title === name ? [{ number, score: 0 }] : []));
  }

  // What begins with all that was typed, three words or more: a question that is asked as it stands.
  function titled(query) {
    const typed = words(query).map(stem).join(" ");
    if (typed.split(" ").length < 3) return [];
    return index.sections.flatMap(({ key }, number) => (`${key} `.startsWith(`${typed} `) ? [{ number, score: 0 }] : []));
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
    const { page, anchor, title } = index.sections[number];
    const { path, title: chapter, part } = index.pages[page];
    return { page: path, anchor, title, chapter, part, number, message, score, marked };
  }

  const place = (number) => hit(number, undefined, 0, new Set());

  const isMarked = (word, marked) => words(word).some((one) => !index.little.has(one) && marked.has(stem(one)));

  window.posencSearch = {
    load, tell, find, place, missing, ask, isMarked, words, stem, beginning: (number) => beginnings[number] ?? "",
  };
})();
