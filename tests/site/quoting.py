"""Which numbers the prose of a page quotes, and which of them its sections show."""

import re
from dataclasses import dataclass, field

# Not quotations of a number: one with a name, which test_fill compares with the results, places in
# a source, addresses and public threads, years, the time, versions, and headings.
NO_NUMBERS = re.compile(
    r'<data value="(?!if:)[^"]*">[^<]*</data>|</?data\b[^>]*>'
    r"|(?:Theorem|Proposition)\s+\d+\.\d+"
    r"|[Ss]ections?\s+\d+(?:\.\d+)*(?:(?:,\s*|\s+and\s+|\s+to\s+)\d+(?:\.\d+)+)*"
    r"|(?:Eq\.|Fig\.|Tables?)\s+\d+(?:(?:,\s*|\s+and\s+|\s+to\s+)\d+)*"
    r"|\[[^]]* \d+\]\(https://github\.com/[^)]*/(?:issues|pull)/\d+\)"
    r"|https?://\S+|\[[\w.-]+/[\w.-]+ #\d+|\]\([^)]*\)|\{cite\w*\}`[^`]*`"
    r"|\b(?:of|[Ii]n|[Ss]ince|(?:Janu|Febru)ary|March|April|May|June|July|August|\w+ember|October) "
    r"(?:19[5-9]|20[0-3])\d\b(?! \w+s\b)"
    r"|\*\*Time:\*\* about \d+ minutes to read(?:, \d+ for the exercises)?"
    r"|\b(?:Python|Llama) \d[\d.]*\d|^#{2,3} .*$",
    re.MULTILINE,
)
NUMBER = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.]*\d)(?:\s?%)?|(?<![\d.])\d+\s?%")
# Whole numbers are looked for in words only: not in formulas, in code, in names and in math blocks.
NO_WORDS = re.compile(
    r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|^:[^\n]*$|^```.*?^```", re.MULTILINE | re.DOTALL
)
WHOLE = re.compile(r"(?<![\w.,^{-])(?:\d{1,3}(?:,\d{3})+|\d{2,})(?![.,]?\d)(?!\w|\s?%)")
THOUSANDS = re.compile(r"(?<=\d)(?:[,_]|\\,)(?=\d{3}(?!\d))")
# An output that says once that its numbers are per cent needs no sign behind each.
PER_CENT = re.compile(r"per cent|\(%\)", re.IGNORECASE)
HOVER = re.compile(r'(\]\([^()\s"]*) "(?:[^"\\]|\\.)*"\)')
HEADING = re.compile(r"^#{2,3} (.*)$", re.MULTILINE)
TASK = re.compile(r"^:::+\{(?:exercise|solution)\}.*?^:::+$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?:([\w./-]+?)(?:\.ipynb|\.md)?)?#([\w-]+)\)")
SENTENCE = re.compile(
    r'(?:(?<=[.?!])|(?<=[.?!]["”)])|(?<=[.?!]\*\*))\s+(?=[A-Z“"(\[*`{]|\$[^$])'
    r"|\n\s*\n|\n(?=\s*[-*|:]|\d+\. )"
)
UNSEEN = {"remove-input", "remove-cell"}
# Sections that sum up or ask about the whole page; the first, without a heading, opens it.
ON_THE_PAGE = {"", "Exercises", "Take-away", "What to do with it"}


@dataclass
class Section:
    """A part of a page from a heading of level 2 or 3 to the next.

    `shown` are the numbers of its outputs, `code` those of its code, and `defined` the whole ones
    in code that readers see, such as the sizes that later sections speak of.
    """

    title: str
    prose: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    code: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)


def normal(number: str) -> str:
    """Return a number with one space before its per-cent sign, if it has one."""
    return re.sub(r"\s*%", " %", number)


def numbers(text: str) -> set[str]:
    """Return the numbers of code or of an output; separators of thousands are taken out."""
    text = THOUSANDS.sub("", text)
    found = {normal(number) for number in re.findall(r"\d+(?:\.\d+)?(?:\s?%)?", text)}
    return found | {number.removesuffix(" %") for number in found}


def quoted(text: str) -> set[str]:
    """Return the numbers that a piece of prose quotes, whole ones without separators."""
    text = NO_NUMBERS.sub(" ", text)
    words = THOUSANDS.sub("", NO_WORDS.sub(" ", text))
    return {normal(number) for number in NUMBER.findall(text)} | set(WHOLE.findall(words))


def sentences(text: str) -> list[str]:
    """Return a piece of prose cut into its sentences, items and rows."""
    return [one.strip() for one in SENTENCE.split(text) if one and one.strip()]


def readable(output) -> list[str]:
    """Return what a reader can read of an output: no pictures, no marks, no data of a script.

    Of an explorable that is its first summary. What it holds beside, a reader has to set first.
    """
    data = output.get("data", {})
    html = data.get("text/html", "")
    if 'class="explorable"' in html:
        html = " ".join(re.findall(r'<p class="explorable-summary".*?</p>', html, re.DOTALL))
    html = re.sub(r"<(style|script)\b.*?</\1>", " ", html, flags=re.DOTALL)
    plain = [data.get(f"text/{kind}", "") for kind in ("plain", "markdown", "latex")]
    return [output.get("text", ""), re.sub(r"<[^>]+>", " ", html), *plain]


def told(outputs) -> set[str]:
    """Return the numbers that outputs show, with and without their per-cent sign."""
    found = set()
    for text in (text for output in outputs for text in readable(output)):
        here = numbers(text)
        found |= here | ({f"{n} %" for n in here} if PER_CENT.search(text) else set())
    return found


def sections(notebook) -> list[Section]:
    """Return the sections of a notebook, the first being what stands above all headings."""
    found = [Section("")]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            source = re.sub(r"<!-- data .*?<!-- /data -->", "", cell.source, flags=re.DOTALL)
            for text in re.split(r"(?m)^(?=#{2,3} )", HOVER.sub(r"\1)", source)):
                if heading := HEADING.match(text):
                    found.append(Section(heading[1]))
                found[-1].prose.append(text)
        elif cell.cell_type == "code":
            here = numbers(cell.source)
            found[-1].shown |= told(cell.outputs)
            found[-1].code |= here
            if not UNSEEN & set(cell.metadata.get("tags", [])):
                found[-1].defined |= {number for number in here if number.isdigit()}
    return found


def slug(title: str) -> str:
    """Return the end of the address of a heading."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title).lower())


def linked(sentence: str, here: list[Section], other) -> set[str]:
    """Return the numbers that the sections show to which a sentence links.

    `here` are the sections of its own page, and `other(page)` gives those of another.
    """
    targets = [(other(page) if page else here, name) for page, name in LINK.findall(sentence)]
    return set().union(*(s.shown for page, name in targets for s in page if name in names(s)))


def names(section: Section) -> set[str]:
    """Return the ends of addresses that lead to a section: of its heading, and of its claim."""
    claim = re.match(r"([A-Z]\d+): ", section.title)
    return {slug(section.title), *([f"claim-{claim[1]}"] if claim else [])}


def unfounded(notebook, known=frozenset(), also=lambda _: set(), other=lambda _: []):
    """Return number -> the sentence that quotes it though its part of the page does not show it.

    A number is shown by an output or the code of its own section, by an output of the opening, by a
    whole number in code above it that readers see, or by a section to which the sentence links.
    Opening, exercises and take-away speak of the whole page, and an exercise may make up whole
    numbers. `known` are numbers that need no showing, `also(text)` gives those that a piece of
    prose need not show, and `other(page)` the sections of another page.
    """
    here = sections(notebook)
    page = set().union(*(one.shown | one.code for one in here))
    found, above = {}, set()
    for section in here:
        above |= section.defined
        shown = here[0].shown | section.shown | section.code | above
        shown = page if section.title in ON_THE_PAGE else shown
        for text in section.prose:
            tasks = " ".join(TASK.findall(text))
            posed = {number for number in quoted(tasks) if number.isdigit()}
            for part, enough in ((TASK.sub("\n\n", text), shown), (tasks, page | posed)):
                for sentence in sentences(part):
                    left = quoted(sentence) - enough - known - also(text)
                    left = left and left - linked(sentence, here, other)
                    found |= dict.fromkeys(left, sentence)
    return found
