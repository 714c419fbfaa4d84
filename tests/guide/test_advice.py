"""Pages advise what the decision record does, by its slots, and nowhere else."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

import fill
from posenc_book.atlas import cards
from posenc_book.guide import record
from posenc_book.guide.chooser import Chooser
from repository import notebooks, texts

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
QUESTIONS = yaml.safe_load((HERE / "ten_questions.yml").read_text(encoding="utf-8"))
NOT_ADVICE = yaml.safe_load((HERE / "not_advice.yml").read_text(encoding="utf-8"))
SLOT = re.compile(r'<data value="record\.(?P<part>\w+)\.(?P<case>\w+)">(?P<words>.*?)</data>')
MADE = ("api", "atlas", "editions")  # tools write these pages of reference

NAMES = "|".join(
    sorted(
        {re.escape(one.title.split("'")[0]) for one in cards().values()}
        | {"YaRN", "NTK", "LongRoPE", "Llama 3’s schedule", "sinusoids?", "learned table"}
        | {"no encoding", "no positions", "SPE", "Shaw", "DFT", "T5"},
        key=len,
        reverse=True,
    )
)
VERBS = (
    "take|use|try|choose|prefer|recommends?|pick|begin with|start with|keep to|stay with|go for|"
    "opt for|advise|suggest|send you to|we say|you want|you need|default is|choice is|answer is"
)
BETWEEN = (
    "it|is|the|an?|one|two|plain|with|in|to|for|models?|of|your|our|first|always|either|both|then|"
    "simply|rather|and|use|take|axial"
)
MARKUP = r"[*\[“\"(:]*"
ADVICE = re.compile(
    rf"\b(?i:{VERBS})\s+{MARKUP}(?:(?i:{BETWEEN}),?\s+{MARKUP}){{0,5}}(?i:{NAMES})(?![\w-])"
    rf"|\b(?i:{NAMES})[*\]]*\s+(?:is|are|stays?) (?:the|our|your|a) "
    r"(?:first|best|right|safe|usual) (?:choice|default|bet|answer|one)\b"
)
ENDS = re.compile(r"(?<=[.!?:])[*)”\"]*\s+|\n\n|\n(?=\s*[-#|\d])")


def advice(text: str) -> list[str]:
    """Return the sentences that recommend an encoding in words of their own."""
    told = SLOT.sub("what the record says", text)
    told = re.sub(r"</?data[^>]*>|<!-- data record.*?<!-- /data -->", "", told, flags=re.DOTALL)
    sentences = [" ".join(one.split()) for one in ENDS.split(told)]
    asked = ("#", "- [")  # a question in a heading or a list of contents
    return [
        one
        for one in sentences
        if ADVICE.search(one) and not one.endswith("?") and not one.startswith(asked)
    ]


def pages() -> list[Path]:
    """Return what readers read: pages, the cards of the atlas, and the course."""
    book = [
        p for p in [*notebooks(ROOT / "book"), *texts(ROOT / "book")] if p.parent.name not in MADE
    ]
    course = [*(ROOT / "course").glob("*.md"), *(ROOT / "course/quizzes").rglob("*.yml")]
    course += (ROOT / "course/source").rglob("*.py")
    readme = [ROOT / "README.md", ROOT / "src/posenc/README.md"]
    return [*book, *readme, *course, *(ROOT / "src/posenc_book/atlas/cards").glob("*.toml")]


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_recommends_by_the_slots_of_the_record_alone(path):
    known = NOT_ADVICE.get(path.relative_to(ROOT).as_posix(), [])
    found = advice("\n\n".join(fill.prose(path)))
    assert [one for one in found if not any(words in one for words in known)] == []
    assert [words for words in known if not any(words in one for one in found)] == []


@pytest.mark.parametrize(
    "planted",
    [
        "For series of one length take the sinusoid.",
        "So use **RoPE** if nothing else fits.",
        "We recommend\n[ALiBi](#card-alibi) for long texts.",
        "Begin with two models, one with the sinusoid and one with nothing.",
        "- **A patch:** take T-PE.",
        "If your series are short, T-PE is the best choice.",
        'On six sets it <data value="a.b">is behind</data>; still, try eRPE first.',
        "Where lengths vary, choose Shaw's relative encoding.",
        "With few series you need a learned table.",
    ],
)
def test_advice_in_words_of_its_own_is_caught(planted):
    assert advice(f"Nothing here. {planted} Nor here.") != []


def test_what_is_asked_told_or_taken_from_the_record_is_no_advice():
    told = [
        "Can I use RoPE here?",
        "### How do I use RoPE on images?",
        "LLaMA was built with RoPE, and eRPE was ahead.",
        'Take **<data value="record.said.steps">eRPE</data>**, and test it.',
        "<!-- data record.table -->\n| steps | take RoPE |\n<!-- /data -->",
    ]
    assert advice("\n\n".join(told)) == []


def test_no_card_of_the_atlas_calls_its_encoding_the_best():
    praise = re.compile(r"first choice|best|default|recommend", re.IGNORECASE)
    assert [name for name, card in cards().items() if praise.search(card.use)] == []


@cache
def places() -> dict[str, str]:
    """Return the four places that answer in writing."""
    cells = json.loads((ROOT / "book/intro.ipynb").read_text(encoding="utf-8"))["cells"]
    first = "".join(cells[-1]["source"]).split("## Which one should I use?")[1].split("\n## ")[0]
    answers = "\n\n".join(fill.prose(ROOT / "book/questions.ipynb"))
    choosing = "\n\n".join(fill.prose(ROOT / "book/choosing.ipynb"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return {"first page": first, "README": readme, "Choosing": choosing, "Questions": answers}


def said(text: str, case: str) -> set[str]:
    """Return what a place recommends in a case."""
    return {f["words"] for f in SLOT.finditer(text) if (f["part"], f["case"]) == ("said", case)}


def answer(anchor: str) -> str:
    """Return what *Questions* says below one of them."""
    return places()["Questions"].split(f"({anchor})=")[1].split("\n(q-")[0]


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["case"])
def test_ten_questions_get_one_answer_in_every_place(asked):
    key, says = asked["case"], asked["says"]
    case = record.case(key)
    assert (case.take, case.said) == (asked["take"], says)
    assert f"| [{case.asks}](#case-{key}) | **{says}** |" in places()["Choosing"]
    assert said(answer(asked["questions"]), key) == {says}
    assert Chooser().case(*asked["chooser"]).said == says
    assert said(places()["first page"], key) == {says}
    for text in places().values():
        assert said(text, key) <= {says}


def test_readme_answers_most_of_the_ten():
    told = [asked["case"] for asked in QUESTIONS if said(places()["README"], asked["case"])]
    assert len(told) >= 7


def test_there_are_ten_and_each_asks_of_another_case():
    assert len({asked["case"] for asked in QUESTIONS}) == len(QUESTIONS) == 10
