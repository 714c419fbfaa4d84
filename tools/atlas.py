"""Make the pages of the atlas from the cards in the package: book/atlas.ipynb and book/atlas/.

    python tools/atlas.py             # write the notebooks, run them and store their outputs
    python tools/atlas.py turned      # one of them: "atlas", a family, or "compared"

The index leads to a page for each family, and to one on which all encodings stand side by side.

The words come from `posenc_book.atlas.cards`, the answers about doors, parameters, lengths and
times from the library, who uses an encoding from the register of released models, costs and
accuracies from the stored results (the probe's, and the lab's), the marks from the ledger.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import ledger
import notebooks
import verdict_marks
from posenc import encodings
from posenc_book.atlas import Card, cards
from posenc_book.atlas.card import FAMILIES, SETTING
from posenc_book.atlas.elsewhere import elsewhere
from posenc_book.atlas.facts import SIZE, Facts, facts
from posenc_book.atlas.used import line as used_by
from posenc_book.guide import record
from posenc_book.guide.measured import Measured, measured, number
from posenc_book.read.classification import edition, edition2
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.lengths import read as lab
from posenc_book.read.lengths.plan import ENCODINGS, PROTOCOL
from repository import ROOT

BOOK = ROOT / "book"
COUNTS = [
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
]  # fmt: skip
TASKS = {
    "copy": "copying",
    "reverse": "reversing",
    "sort": "sorting",
    "parity": "parity",
    "addition": "addition",
    "flip_flop": "flip-flop",
    "indirect_indexing": "indirect indexing",
}
"""The tasks of the lab, as sentences name them."""

INTRODUCTION = """\
# An atlas of positional encodings

Somebody recommends RoPE, a paper uses Time2Vec, an old model has ALiBi: what does each of them do,
what does it cost, and does it fit your data? Here every encoding of the book's library has one
card, and all cards have one form, so that any two can be compared line by line.

Do you know its name? Follow it from the index to its card. Do you want advice? [Choosing an
encoding](choosing) gives it. Do you want to compare all of them? [Side by side](atlas/compared) has
the time that each costs, and a picture of each.

**You need** [the four doors](four-doors), the places where an encoding enters attention.
"""

INDEX = """\
## Index

By name: {names}.

Below they stand in {n_families} families, by what they do. In each family the oldest comes first.
Each row begins with the name that people use, followed by the name in the code. The other columns,
in short ([in full](#how-to-read-a-card)):

- **door**: what it changes: the tokens (`embed`), queries and keys (`rotate`), the scores (`bias`)
  or the weights (`mix`).
- **parameters**: how many numbers a model learns for it.
- **real times**: may positions be time stamps?
- **causal, cached**: does it serve a model that writes one token after another?
- **longer**, **later**: the share of right answers that small models gave on inputs that were
  longer than in training, or that came at later places. Guessing gives 0.5. *Refuses*: it takes no
  longer inputs. *Unlearned*: no model learned the task, not even at the length of training. A dash:
  not measured.
"""

LATECOMERS = """\
Why the dashes? When those encodings joined the library, the small models of the two last columns
had been trained already. {in_lab} of them were trained in [the lab](length-lab) instead. Their
cards say how they did there.
"""

FAMILY = """\
# {title}: a family of the atlas

{sentence}

{links}

[The index](atlas) leads to all families, and says
[how to read a card](atlas.ipynb#how-to-read-a-card).

## The cards

{picture}

`atlas.picture("rotary")` draws the one of RoPE. The lines of code on all cards begin from this
setting:
"""

TABLES = """\
A card's picture is a heat map of the table that is added to the tokens, before any training. Each
row belongs to a position and each column to a dimension; the colours have a scale of their own in
each picture."""

OFFSETS = """\
A card's picture shows what the encoding does to the score of two equal tokens, before any training
and in the first head. How much does that score gain at each offset? Two queries are asked, at
different places, and each has a line. Where the lines coincide, only the offset counts, not the
place."""

PICTURES = {
    "added": TABLES
    + " Without an encoding there is no table, and nothing is gained at any offset.",
    "signal": TABLES
    + " Encodings that read the series were given a wave that gets faster. T-PE has a second "
    "picture. It shows what a score gains at each offset apart from the table, with a line for "
    "each of two queries at different places.",
    "turned": OFFSETS,
    "distances": OFFSETS,
    "offsets": OFFSETS + " Of eRPE it is the weight that gains.",
}

COMPARED = """\
# Side by side: all encodings of the atlas

What each encoding costs and bears, what it does before anything is learned, and which of five
wishes it grants: here they all stand next to each other. [The index](atlas) leads to the card of
each.
"""

READING = """\
## How to read a card

- **Door** is the place where position enters attention: `embed` changes the tokens, `rotate`
  queries and keys, `bias` the scores, `mix` the weights. The library names it.
- **Parameters** are the numbers that a model learns for the encoding, counted in a model of
  {n_layers} layers and {n_heads} heads with `d_model` = {d_model} and L = {L} tokens.
- **Cost** says how many times as long a training step takes as without an encoding. It is the
  median over series of {lengths} tokens. (We took `d_model` = 64 and one core, and
  timed all encodings in turn.) A difference of a few per cent means nothing.
- **Beyond the training length** has two measurements, the *probe* and the *lab*. They ask different
  things: what does well in one may do badly in the other.
- **The probe** shows a model a series with two pulses and asks which of them came first. For each
  encoding, ten small models are trained on series of 32 time steps, until the rule of their
  protocol stops them. Those that have learned it are then asked about series of 128 steps
  (*longer*), and about series of 32 steps that stand at the end of a frame of 128 (*later*).
- **[The lab](length-lab)** trains small causal models in several tasks, on sequences of up to
  {trained} symbols, and tests them on sequences of {longer} symbols. The card has the share of
  answer tokens that are right there, as the mean of {seeds} seeds. It leaves out tasks that no
  encoding learned. Compare with a rule that needs no model, *repeat the last answer*: it has
  {rule}.
- **Real times** says whether positions may be any real numbers, such as time stamps. Where they may
  not, the card gives the library's error message as the reason.
- **Causal, cached** says whether it works in a layer in which a token sees earlier ones only, and
  whether such a layer may read one token at a time.
- **Used by** counts models of the [register](todays-models), which reads released configurations
  and the classes that run them. It stands where the register knows one.
- **A few lines of code** end the card. They compute from the formula what the encoding does, and
  compare it with the library. They run, like everything here.
"""

MEASUREMENTS = """\
## What was measured

What was measured stands here in one table: the time of a step with its range over the
lengths of series, how many training runs learned the probe, and their mean accuracy at the length
of training, at four times that length, and at later places. [How to read a
card](atlas.ipynb#how-to-read-a-card) explains the columns.

{later}
"""

CONFORMANCE = """\
## All asked the same

Does padding change the answer? Does a cache? [The library's checker](attention-check) asks each
encoding the same questions, in a layer of 4 heads that was made for 16 tokens, before anything is
learned.
"""

ANSWERS = """\
*Refused* means that the library says why it cannot. A dash means that the question makes no sense
there.

T5 takes real times and rounds them. `none` tells no places apart, so it cannot do so in longer
inputs either. FoPE keeps a single frequency in so small a layer, and so it ignores a shift; with
several it does so only nearly.

The last column counts promises that any encoding must keep, too. Rows of a batch do not see each
other, nothing is remembered from one call to the next, tables survive a change of type, and every
parameter learns. It is smaller where less can be asked.
"""

PICTURE = """\
## Who sees whom

What does an encoding do before anything is learned? Give a layer equal tokens, so that content
says nothing, and let queries and keys be the tokens as they are. Without position every token
sees all others alike. Whatever departs from that is the encoding's doing, at its random start
where it has one.
"""

FAMILIES_SEEN = """\
Two families stand out. Where a map consists of diagonals, a weight depends, up to the
normalisation of its row, on the offset of query and key only. In the other maps what a token
sees is tied to the place where it stands. The numbers can be asked as well:
"""

TIED = """\
Sinusoids are not on the list, although their own dot products depend on offsets only: in the
sum $x_i + e(i)$ position also meets the *content* of the other token, and that part is tied to
the place. SPE is not on it either, as its random codes meet the offset on average only, and FoPE
is not, because a mixture of rotations is no rotation. CoPE and FIRE are on it for the start alone:
CoPE's vectors are zeros then, and FIRE divides by one constant up to 512 steps. DyWPE and window
statistics are on it because they read the series, and equal tokens are a constant one, where they
add the same vector everywhere. FoX and PaTH are on it because equal tokens have equal gates and
matrices. Axial RoPE, M-RoPE and Swin's table depend on the offset too, but on that of rows and of
columns: their tokens stand on a grid of six rows, read row by row.

## Five wishes

[Raw indices](raw-indices) asks five things of an encoding. Here is what each has to say at its
start, before anything is learned. Where an encoding works inside attention, its scores for equal
tokens are measured in place of a table, and *unique* asks whether a layer without a causal mask
tells an order from others, its reverse among them. What depends on the size of an offset alone,
as ALiBi, KERPLE and FIRE do, and PoPE at its start, cannot. A cross is no fault: ALiBi's scores are
large because they count steps. Axial RoPE, M-RoPE and Swin's table are not asked, as their places
are not in one line. All are measured at 50 positions, and at 100 for the wish to extend, with 64
dimensions. There DFT fails two wishes that it meets with 256 dimensions in
[Oscillations](oscillations): 100 positions are more than 64, so its waves are stretched.
"""

WITHOUT_CARDS = """\
## Without a card

These are known from their papers and are not in the library, so nobody has measured them here. What
they do, in short. [What is new since 2025](new-since-2025) says of each recent one what was read.

{table}
"""

JOIN = """\
## A card for your own encoding

An encoding joins the library as a class. [The four doors](four-doors) shows how to write one, and
[Distance instead of place](relative-and-hybrid) and [the rest of the family](rest-of-the-family)
look at eight that the library has.

It joins the atlas as one file in `posenc_book/atlas/cards`, and `python tools/atlas.py` makes
these pages anew. A test runs the lines of code on the card. It also asks the library for doors,
parameters, longer inputs, real times and caches, and fails where the card says otherwise.
"""


def pages() -> dict[str, list]:
    """Return the cells of every page by its path below book/, marks filled in, without outputs."""
    found = {"atlas": index_page()}
    found |= {f"atlas/{family}": family_page(family) for family in FAMILIES}
    found["atlas/compared"] = compared_page()
    return {page: with_marks(cells, page) for page, cells in found.items()}


known_facts = cache(facts)  # the index says some of what the cards say


def kin(family: str) -> list[Card]:
    """Return the cards of a family."""
    return [card for card in cards().values() if card.family == family]


def index_page() -> list:
    """Return the cells of the index."""
    *others, last = map(str, measured()["none"].tokens)
    lengths = f"{', '.join(others)} and {last}"
    found = [INTRODUCTION, INDEX.format(names=by_name(), n_families=COUNTS[len(FAMILIES)])]
    for family, (title, sentence) in FAMILIES.items():
        found.append(f"### {title}\n\n{sentence} [Their page](atlas/{family}).\n\n{index(family)}")
    found.append(LATECOMERS.format(in_lab=late_in_the_lab()))
    found += [READING.format(**SIZE, lengths=lengths, **of_the_lab())]
    found += [WITHOUT_CARDS.format(table=without_cards()), JOIN]
    return [new_markdown_cell(text) for text in found]


def family_page(family: str) -> list:
    """Return the cells of one family's page."""
    title, sentence = FAMILIES[family]
    links = " · ".join(f"[{card.title}](#{card.anchor})" for card in kin(family))
    said = {"title": title, "sentence": sentence, "links": links, "picture": PICTURES[family]}
    words = FAMILY.format(**said)
    code = "".join(card.code for card in kin(family))
    imports = [
        "import torch",
        *["from torch import nn"] * ("nn." in code),
        "",
        "from posenc import encodings",
        *["from posenc.attention import Places"] * ("Places" in code),
        "from posenc_book.figures import atlas",
    ]
    found = [new_markdown_cell(words), *map(new_code_cell, ("\n".join(imports), SETTING))]
    return found + [cell for card in kin(family) for cell in on_page(card)]


def compared_page() -> list:
    """Return the cells of the page on which all encodings stand side by side."""
    return [
        new_markdown_cell(COMPARED),
        new_code_cell(
            "from posenc import encodings\nfrom posenc_book.atlas import additions, conformance\n"
            "from posenc_book.figures import atlas\nfrom posenc_book.guide import measured\n"
            "from posenc_book.teaching import scorecard, scorecard_torch"
        ),
        new_markdown_cell(MEASUREMENTS.format(later=in_the_benchmark())),
        new_code_cell("measured.measured_table()"),
        new_markdown_cell(CONFORMANCE),
        new_code_cell("conformance.conformance_table()"),
        new_markdown_cell(ANSWERS),
        new_markdown_cell(PICTURE),
        new_code_cell("atlas.maps()"),
        new_markdown_cell(FAMILIES_SEEN),
        new_code_cell(
            '[name for name in encodings.names("series") if additions.offset_only(name)]',
        ),
        new_markdown_cell(TIED),
        new_code_cell(
            "wishes = {name: scorecard_torch.measure(name) for name in "
            'encodings.names("series")}\n'
            "scorecard.scorecard_table(wishes)"
        ),
    ]


def on_page(card: Card) -> list:
    """Return the cells of one card."""
    return [
        new_markdown_cell(head(card)),
        new_code_cell(f'atlas.picture("{card.name}")', metadata={"tags": ["remove-input"]}),
        new_markdown_cell(
            lines(card, known_facts(card.name), measured().get(card.name, Measured()))
        ),
        new_code_cell(card.code),
    ]


def head(card: Card) -> str:
    """Return what stands above a card's picture."""
    parts = [f"({card.anchor})=\n### {card.title} `{card.name}`", card.sentence]
    parts += [f"$$\n{card.formula}\n$$", card.more]
    return "\n\n".join(part for part in parts if part)


def lines(card: Card, known: Facts, one: Measured) -> str:
    """Return what stands below a card's picture: a list, the same for all cards."""
    marked = " ".join(f"<sup>[{claim}]()</sup>" for claim in card.verdicts)
    entries = {
        "Door": ", ".join(f"`{door}`" for door in card.doors) or "none",
        "Parameters": parameters(card, known),
        "Cost of a training step": cost(card, one),
        "Beyond the training length": f"{card.beyond} {beyond(card, one)}",
        "Real times": answer(known, "real_times", reasons=True),
        "Causal, cached": answer(known, "causal", "cached", reasons=True),
        "When to use it": card.use.removeprefix("Use it "),
        **({"The book takes it for": known_cases} if (known_cases := advised(card.name)) else {}),
        **({"Used by": known_users} if (known_users := used_by(card.name)) else {}),
        "Paper": ", ".join(f"{{cite}}`{key}`" for key in card.papers) or "none",
        "Explained in": f"[{title(card.chapter)}]({card.chapter})" if card.chapter else "this card",
        "Verdicts": marked or "no claim about it was checked",
    }
    entries["When to use it"] = entries["When to use it"][0].upper() + entries["When to use it"][1:]
    return "\n".join(f"- **{what}:** {said.rstrip('.')}." for what, said in entries.items())


def advised(name: str) -> str:
    """Return links to the cases in which the decision record takes an encoding."""
    taken = [(key, one) for key, one in record.cases().items() if one.take == name]
    return "; ".join(f"[{one.asks}](#case-{key})" for key, one in taken)


def by_name() -> str:
    """Return links to all cards, as an index has them: by name."""
    found = sorted(cards().values(), key=lambda card: card.title.lower())
    return " · ".join(f"[{card.title}](#{card.anchor})" for card in found)


def index(family: str) -> str:
    """Return the table that leads to the cards of a family, the oldest encoding first."""
    asked = ("door", "parameters", "real times", "causal, cached", "longer", "later")
    rows = [row("encoding", "year", *asked), "|---|--:|---|--:|---|---|--:|--:|"]
    for card in sorted(kin(family), key=lambda card: card.year):
        known = known_facts(card.name)
        link = f"[{card.title}](#{card.anchor}) `{card.name}`"
        doors, size = ", ".join(card.doors) or "none", f"{known.parameters:,}"
        asked = [answer(known, "real_times"), answer(known, "causal", "cached")]
        rows.append(row(link, str(card.year), doors, size, *asked, *in_short(card)))
    return "\n".join(rows)


def without_cards() -> str:
    """Return the table of encodings that papers alone have, the oldest first."""
    rows = [row("encoding", "year", "idea", "paper"), "|---|--:|---|---|"]
    for one in sorted(elsewhere(), key=lambda one: one.year):
        rows.append(row(one.title, str(one.year), one.idea, f"{{cite}}`{one.paper}`"))
    return "\n".join(rows)


def row(*texts: str) -> str:
    """Return a row of a table in Markdown."""
    return "| " + " | ".join(texts) + " |"


def in_short(card: Card) -> tuple[str, str]:
    """Return what happens to longer inputs, and to later ones, in a word or number."""
    if card.longer == "refuses":
        return "refuses", "refuses"
    one = measured().get(card.name, Measured())
    if not one.n_learned:
        return ("unlearned", "unlearned") if one.n_seeds else ("–", "–")
    return number(one.longer), number(one.later)


def parameters(card: Card, known: Facts) -> str:
    """Return how many numbers are learned, and by which formula."""
    return "0" if card.parameters == "0" else f"`{card.parameters}` = {known.parameters:,}"


def cost(card: Card, one: Measured) -> str:
    """Return the time of a training step in steps of none."""
    if not card.doors:
        return "1, by definition"
    if not one.tokens:
        return "not measured"
    spread = f"{one.low:.2f} to {one.high:.2f} with {min(one.tokens)} to {max(one.tokens)} tokens"
    return f"{number(one.cost)} times that without an encoding ({spread})"


def beyond(card: Card, one: Measured) -> str:
    """Return what was measured beyond the training length, as one sentence or two."""
    seen = in_the_lab(card)
    if not one.n_seeds:
        return f"Not measured in our probe. {seen}" if seen else "Not measured."
    return f"{in_the_probe(card, one)} {seen}".rstrip()


def in_the_probe(card: Card, one: Measured) -> str:
    """Return what the probe says, as a sentence."""
    learned = f"{one.n_learned} of {one.n_seeds} training runs learned the task of our probe"
    if not one.n_learned:
        return f"{learned}, so nothing can be compared."
    if card.longer == "refuses":
        return f"{learned}; no longer input was taken."
    rebuilt = "made anew for the length, " * (card.longer == "rebuilt")
    return (
        f"{learned}; {rebuilt}they are right on {number(one.longer)} of the longer series and on "
        f"{number(one.later)} of the later ones."
    )


def in_the_lab(card: Card) -> str:
    """Return what the lab says of an encoding under counted places, or "" without a training."""
    found = lab_read()
    shares = {task: found.beyond(task, card.name) for task in found.tasks if found.learned(task)}
    known = [f"{share:.0%} on {TASKS[task]}" for task, share in shares.items() if share == share]
    if not known:
        return ""
    known[0] = known[0].replace("% on", "% right on")
    [chosen] = [one for one in ENCODINGS if one.label == card.name]
    options = "".join(f", with `{option}` = {value:g}" for option, value in chosen.options)
    options += ", with a table made for the longest test" * (card.longer == "refuses")
    return (
        f"In [the lab](length-lab), trained to {PROTOCOL['trained']} symbols{options}: "
        f"{listed(known).replace('%', ' %')}, at {lab.LONGER[0]} to {lab.LONGER[-1]}."
    )


def of_the_lab() -> dict[str, object]:
    """Return what the text says of the lab: its training length, seeds, and a rule's answers."""
    found = lab_read()
    [seeds] = {len(runs) for runs in found.runs.values()}
    rule = [
        f"{lab.repeated(task):.0%}".replace("%", " %") + f" on {TASKS[task]}"
        for task in found.tasks
        if found.learned(task)
    ]
    longer = f"{lab.LONGER[0]} to {lab.LONGER[-1]}"
    shown = {"trained": PROTOCOL["trained"], "longer": longer}
    return {**shown, "seeds": COUNTS[seeds], "rule": listed(rule)}


def late_in_the_lab() -> str:
    """Return how many of the later encodings the lab has trained, as a word that begins one."""
    return COUNTS[sum(bool(in_the_lab(cards()[name])) for name in protocols.LATER)].capitalize()


lab_read = cache(lab.load_lab)


def in_the_benchmark() -> str:
    """Return which of the later encodings the benchmark has trained, by the edition's sets."""
    labels = edition.read_edition().sets
    tokens = [said for model, said in edition2.TOKENS.items() if f"{model}, later" in labels]
    controlled = protocols.CONTROLLED.items()
    whole = [f"`{name}`" for control, name in controlled if any(control in x for x in labels)]
    axes = listed([cards()[name].title for name in encodings.names("axes")])
    alone = f"{axes} cannot join it, because series have one number a place."
    n, sets = (COUNTS[len(names)] for names in (protocols.LATER, protocols.WITHOUT_GAPS))
    if tokens:
        return (
            f"What the {n} encodings that came later gain on {sets} data sets, with "
            f"{listed(tokens)} as tokens, is told in [another page](asked-again.ipynb#"
            "encodings-of-today), and so is what [five more of the library](asked-again.ipynb#"
            f"five-more-of-the-library) do. {alone}"
        )
    trained = f"{COUNTS[len(whole)]} of them" + (f", {listed(whole)}," if whole else "")
    return (
        f"[The benchmark](benchmark) has hardly trained the {n} encodings that came later so far: "
        f"{trained} {'has' if len(whole) == 1 else 'have'} finished training runs there. {alone}"
    )


def listed(parts: list[str]) -> str:
    """Return parts as people list them."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def answer(known: Facts, *questions: str, reasons: bool = False) -> str:
    """Return the library's answer to all questions together, with its reasons for a no."""
    refused = [known.refusals[q].split(", got ")[0] for q in questions if q in known.refusals]
    if not refused:
        return "yes"
    return "no; " + "; ".join(dict.fromkeys(refused)) if reasons else "no"


def title(page: str) -> str:
    """Return the title of a page of the book, up to a colon."""
    text = nbformat.read(BOOK / f"{page}.ipynb", 4).cells[0].source
    return text.splitlines()[0].removeprefix("# ").split(":")[0]


def with_marks(found: list, page: str) -> list:
    """Return cells in which every mark says what the ledger says, and links fit the folder."""
    rows = {claim["id"]: claim for claim in ledger.read()}
    folder, _, name = page.rpartition("/")
    for cell in found:
        if cell.cell_type == "markdown":
            text = flowing(cell.source)
            cell.source = verdict_marks.with_marks(
                below(text) if folder else text, rows, folder, name
            )
    return found


def below(text: str) -> str:
    """Return a text whose links to other pages lead there from a folder below theirs."""
    return re.sub(r"\]\((?=[a-z-]+(?:\.ipynb)?(?:#[\w-]+)?\))", "](../", text)


def flowing(text: str) -> str:
    """Return a text with each paragraph and each item of a list on one line."""
    return re.sub(r"(?<=[^\n|$])\n *(?! |\n|[-|#$]|\(card)", " ", text.strip("\n"))


def sources(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the texts of a notebook's cells, but for the set-up cell."""
    return [cell.source for cell in notebook.cells if not notebooks.is_setup(cell)]


def path(page: str) -> Path:
    """Return the notebook of a page."""
    return BOOK / f"{page}.ipynb"


def outdated() -> Iterator[str]:
    """Yield the pages whose stored text is not the one that the cards give."""
    for page, cells in pages().items():
        wanted = [cell.source for cell in cells]
        if not path(page).exists() or sources(nbformat.read(path(page), 4)) != wanted:
            yield page


def main(names: list[str]) -> None:
    """Write the pages, or those that are named."""
    known = {page.removeprefix("atlas/"): page for page in pages()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"names must be among {', '.join(known)}, got {', '.join(unknown)}")
    (BOOK / "atlas").mkdir(exist_ok=True)
    for name in names or known:
        notebooks.store(path(known[name]), new_notebook(cells=pages()[known[name]]))
    print(f"{len(names or known)} pages, {len(cards())} cards")


if __name__ == "__main__":
    main(sys.argv[1:])
