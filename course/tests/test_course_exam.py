"""The exam: right answers, other numbers for each seed, and a file that Moodle reads."""

import itertools
import math
import re
import sys
from xml.etree import ElementTree as xml

import numpy as np
import pytest
from course.exam import __main__ as command
from course.exam import draw, moodle, paper, questions

SEED = "a throw-away seed of the tests"
BOOK = draw.QUIZZES.parents[1] / "book"
SEEDS = [f"{SEED} {n}" for n in range(8)]
every_template = pytest.mark.parametrize("name", questions.TEMPLATES)


def numbers(text: str) -> list[float]:
    """Return the numbers of a question, with their signs and without separators."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.replace("b^{-2i/d}", ""))
    return [float(found) for found in re.findall(r"(?<![\w.^])-?\d+(?:\.\d+)?", text)]


# --- each answer once more, from the text of its question alone and by another way


def by_counting_rows(text, *_):
    return len(set(re.search(r"\*(.+?)\*", text)[1].split()))


def by_listing_crowds(_, n):
    orders = itertools.permutations(range(int(n) + 1))
    return len({frozenset(order[: order.index(0)]) for order in orders})


def by_listing_queues(_, n):
    orders = itertools.permutations(range(int(n) + 1))
    return len({order[: order.index(0)] for order in orders})


def by_reordering_patches(_, tokens, size, *_rest):
    return len(list(itertools.permutations(range(int(tokens / size)))))


def by_turning_dials(_, a, b, c, *rest):
    return int(rest[-1]) // int(a * b) % int(c)


def by_comparing_bits(_, t, after):
    one, other = (f"{int(x):020b}" for x in (t, after))
    return sum(x != y for x, y in zip(one, other, strict=True))


def by_waiting(_, p, q):
    shown = [(t % p, t % q) for t in range(int(p * q) + 1)]
    return next(t for t in range(1, len(shown)) if shown[t] == shown[0])


def by_distance(_, a, b, k):
    t = np.array([3, 3 + k])
    table = [f(2 * np.pi * t / length) for length in (a, b) for f in (np.sin, np.cos)]
    return np.linalg.norm(np.subtract.reduce(np.array(table), axis=1))


def by_fitting(_, omega, k):
    t = np.arange(200_000)
    now, later = np.sin(omega * t), np.sin(omega * (t + k))
    best = now @ later / (now @ now)
    return np.linalg.norm(later - best * now) / np.linalg.norm(later)


def by_softmax(_, liking, _last, _others, n, bias):
    scores = np.zeros(int(n))
    scores[0], scores[-1] = liking, bias
    return (np.exp(scores) / np.exp(scores).sum())[-1]


def by_complex_number(_, a, b, t, omega):
    return ((a + 1j * b) * np.exp(1j * omega * t)).real


def by_dealing(_, d, _zero, j):
    dimensions = list(range(int(d)))
    return (dimensions[::2] + dimensions[1::2]).index(int(j))


def by_trying_turns(_, k, n):
    t = np.arange(n)
    wanted = np.cos(2 * np.pi * k * t / n)
    tried = (np.cos(2 * np.pi * turns * t / n) for turns in itertools.count())
    return next(i for i, wave in enumerate(tried) if np.allclose(wave, wanted, atol=1e-9))


def by_pairs(_, *flat):
    rows = list(zip(flat[::2], flat[1::2], strict=True))
    return min(math.dist(a, b) for a, b in itertools.combinations(rows, 2)) / 2


def by_scaling(_, *values):
    *train, test = values
    return (test - np.mean(train)) / np.std(train)


def by_listing_samples(_, width, *starts):
    train = {s for one in starts[:4] for s in np.arange(one, one + width)}
    return sum(bool(train & set(np.arange(one, one + width))) for one in starts[4:])


def by_interval(_, *values):
    d = np.subtract(values[:5], values[5:10])
    return d.mean() - 2.776 * d.std(ddof=1) / math.sqrt(5)


def by_counting_waves(_, base, d, _zero, last, *_rest):
    return sum(last / (2 * np.pi * base ** (2 * i / d)) < 1 for i in range(int(d / 2)))


def by_attention(text, n, *_rest):
    share = float(re.search(r"(\d+)%", text)[1]) / 100
    found = math.log(share * (n - 1) / (1 - share))
    assert math.isclose(math.exp(found) / (math.exp(found) + n - 1), share)
    return found


def by_slowest_wave(_, d, base, factor):
    tried = np.geomspace(base, 1e8, 2_000_001)
    longer = (tried / base) ** (1 - 2 / d)
    return tried[np.argmin(abs(longer - factor))]


def by_adding_keys(_, slope, share):
    weights = np.exp(-slope * np.arange(5000))
    return 1 + int(np.argmax(np.cumsum(weights) / weights.sum() >= share / 100 - 1e-12))


def by_torch(text, *_):
    torch = pytest.importorskip("torch")
    return torch.tensor(numbers(text)[-1]).to(torch.bfloat16).item()


def by_squares(text, *_):
    form = r"\$(\d) \+ (\d) .*?cdot (\d) t/24\) \+ (\d) .*?cdot (\d) t/24.*most (\d) turns"
    a, b, low, c, high, most = map(int, re.search(form, text).groups())
    energies = {0: a**2, low: b**2 / 2, high: c**2 / 2}
    kept = sum(energy for turns, energy in energies.items() if turns <= most)
    return kept / sum(energies.values())


AGAIN = {
    "different_rows": by_counting_rows,
    "crowds": by_listing_crowds,
    "queues": by_listing_queues,
    "patches": by_reordering_patches,
    "third_dial": by_turning_dials,
    "flips": by_comparing_bits,
    "fraction": lambda _, t, n, longer: t / n - t / longer,
    "steepness": lambda _, d, _spread, *rest: d * np.mean(np.arange(rest[2] + 1) ** 2),
    "base_of": lambda _, d, longest: (longest / (2 * np.pi)) ** (1 / (1 - 2 / d)),
    "slowest": lambda _, d, base: 2 * np.pi / base ** -((d - 2) / d),
    "share_of_its_way": lambda _, omega: np.ptp([-np.sin(omega / 2), np.sin(omega / 2)]) / 2,
    "told_apart": by_waiting,
    "distance_of_rows": by_distance,
    "entry_of_step": lambda _, omega, k: np.cos(omega * k - np.pi / 2),
    "missed_by_sine": by_fitting,
    "product_of_places": lambda _, a, b, t, s: np.cos(a * t - a * s) + np.cos(b * t - b * s),
    "weight_of_the_last": by_softmax,
    "turned": by_complex_number,
    "place_in_halves": by_dealing,
    "second_hand": lambda _, d, base: 2 * np.pi / base ** (-2 / d),
    "slower_wave": by_trying_turns,
    "harmless_noise": by_pairs,
    "scaled_honestly": by_scaling,
    "leaks": by_listing_samples,
    "lower_end": by_interval,
    "never_came_round": by_counting_waves,
    "louder_needle": by_attention,
    "enlarged_base": by_slowest_wave,
    "reach": by_adding_keys,
    "place_in_bfloat16": by_torch,
    "share_of_energy": by_squares,
}


@every_template
@pytest.mark.parametrize("seed", SEEDS[:3])
def test_an_answer_is_what_its_text_asks_for(name, seed):
    one = questions.drawn(name, seed)
    found = AGAIN[name](one.text, *numbers(one.text))
    assert abs(found - one.answer) <= max(one.tolerance / 5, 1e-9), (one.text, found)


@every_template
def test_another_seed_gives_other_numbers_and_the_same_one_the_same(name):
    texts = [questions.drawn(name, seed).text for seed in SEEDS]
    assert texts == [questions.drawn(name, seed).text for seed in SEEDS]
    assert len(set(texts)) >= 2


@every_template
def test_a_question_is_well_formed_and_can_be_answered(name):
    for seed in SEEDS:
        one = questions.drawn(name, seed)
        assert math.isfinite(one.answer)
        assert one.tolerance < abs(one.answer) / 4 or name == "lower_end" or not one.tolerance
        assert one.text.count("$") % 2 == one.why.count("$") % 2 == 0
        assert 1 <= one.points <= 3
        assert one.why
        assert one.text.rstrip().endswith(("?", ".)", "."))


@every_template
def test_a_question_names_what_it_varies(name):
    one = questions.TEMPLATES[name]
    assert one.chapter in draw.chapters()
    text = (BOOK / f"{one.chapter}.ipynb").read_text(encoding="utf-8")
    if assigned := re.fullmatch(r"assignment (\d), question (\d)", one.of):
        source = questions.build.sources()[int(assigned[1]) - 1]
        assert assigned[2] in {task.question for task in source.tasks}
    else:
        heading = one.of.removeprefix("exercise ")
        assert re.search(rf'(#{{2,3}}|\{{exercise\}}) {re.escape(heading)}(\\n)?"', text), one.of


# --- an exam


def test_an_exam_is_spread_over_its_chapters():
    exam = draw.draw(SEED, "July")
    assert len(exam.choices) == draw.CHOICES
    assert len(exam.numbers) == draw.NUMBERS
    assert {one.chapter for one in exam.choices} == set(draw.usual())
    assert len({one.chapter for one in exam.numbers}) == draw.NUMBERS
    assert draw.draw(SEED, "July") == exam
    other = draw.draw(SEED, "September")
    assert [one.name for one in other.choices] != [one.name for one in exam.choices]
    assert {one.text for one in other.numbers}.isdisjoint(one.text for one in exam.numbers)
    assert draw.draw(f"{SEED}!", "July") != exam


def test_an_exam_asks_about_the_chapters_that_are_named():
    exam = draw.draw(SEED, "July", ["rotary", "atlas"])
    assert {one.chapter for one in exam.choices} == {"rotary", "atlas"}
    assert {one.chapter for one in exam.numbers} == {"rotary"}
    assert len({one.name for one in exam.choices}) == len(exam.choices) == 10
    exam = draw.draw(SEED, "July", ["rotary"])
    assert (len(exam.choices), len(exam.numbers)) == (5, 4)
    assert exam.points == 5 + sum(one.points for one in exam.numbers)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((["rotery"], None, None), r"not on \['rotery'\]"),
        ((["rotary"], 6, None), "have 5 questions of the quizzes, 6 were asked for"),
        ((["rotary"], None, 9), "have 4 questions with numbers, 9 were asked for"),
        ((["rotary"], -1, None), "-1 were asked for"),
    ],
)
def test_what_cannot_be_drawn_is_named(asked, message):
    with pytest.raises(ValueError, match=message):
        draw.draw(SEED, "July", *asked)


def test_the_paper_gives_nothing_away_and_the_answers_give_all():
    exam = draw.draw(SEED, "July <1>")
    blank, key = (paper.page(exam, answers) for answers in (False, True))
    assert "<title>July &lt;1&gt;</title>" in blank
    assert "Student number" in blank
    for one in exam.choices:
        for option in one.options:
            assert paper.markdown(option.text) in blank
            assert paper.markdown(option.why) in key
            assert paper.markdown(option.why) not in blank
        right = "ABCD"[[option.right for option in one.options].index(True)]
        assert f"Answer: {right}</p>" in key
    for one in exam.numbers:
        assert paper.markdown(one.text) in blank
        assert f"Answer: {paper.number_text(one.answer)}" in key
        assert paper.markdown(one.why) not in blank
    assert 'class="right"' not in blank
    assert f"{exam.points} points in all" in blank


def test_the_right_answer_does_not_always_stand_in_the_same_place():
    exams = [draw.draw(seed, "July") for seed in SEEDS]
    places = {[o.right for o in one.options].index(True) for exam in exams for one in exam.choices}
    assert places == {0, 1, 2}


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`a*b*` and *c*", "<code>a*b*</code> and <em>c</em>"),
        ("**b** < $x_1 * y < 2$", r"<strong>b</strong> &lt; \(x_1 * y &lt; 2\)"),
    ],
)
def test_a_line_of_a_question_becomes_html(text, html):
    assert paper.markdown(text) == html


def test_numbers_are_said_as_a_teacher_reads_them():
    said = [paper.number_text(x) for x in (6.0, 0.123456, 159999.9999, 6813872.0, -0.5)]
    assert said == ["6", "0.1235", "160,000", "6,813,872", "-0.5"]


# --- for Moodle


def test_moodle_gets_every_question_with_one_right_answer():
    asked = list(draw.all_questions(SEED, copies=2))
    quiz = xml.fromstring(moodle.bank(asked).encode())
    kinds = [question.get("type") for question in quiz]
    n_choices = 5 * len(draw.chapters())
    assert kinds.count("multichoice") == n_choices
    assert kinds.count("numerical") == 2 * len(questions.TEMPLATES)
    assert kinds.count("category") == len(draw.chapters())
    assert kinds[0] == "category"
    for question in quiz.iterfind("question"):
        if question.get("type") == "category":
            assert question.findtext("category/text").startswith("$course$/top/The Positional")
            continue
        assert question.findtext("name/text")
        assert question.find("questiontext").get("format") == "html"
        shares = [answer.get("fraction") for answer in question.iterfind("answer")]
        assert shares.count("100") == 1
        assert all(answer.findtext("feedback/text") for answer in question.iterfind("answer"))
        if question.get("type") == "numerical":
            assert len(shares) == 1
            assert math.isfinite(float(question.findtext("answer/text")))
            assert float(question.findtext("answer/tolerance")) >= 0
        else:
            assert question.findtext("single") == "true"
            assert set(shares) == {"0", "100"}


def test_a_category_is_no_path_of_categories():
    text = moodle.bank(list(draw.draw(SEED, "July").choices), "Book, 7/2027")
    assert "$course$/top/Book, 7-2027/rotary" in text


# --- the command


def test_the_command_writes_paper_answers_and_moodle(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("POSENC_COURSE_SEED", SEED)
    argv = ["exam", "--name", "July 2027", "--chapters", "rotary", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", argv)
    command.main()
    assert "points. Print" in capsys.readouterr().out
    there = {path.name for path in tmp_path.iterdir()}
    assert there == {"paper.html", "answers.html", "moodle.xml", "mathjax"}
    script = re.search(r'src="([^"]+)"', (tmp_path / "paper.html").read_text("utf-8"))[1]
    assert (tmp_path / script).is_file()
    exam = draw.draw(SEED, "July 2027", ["rotary"])
    assert (tmp_path / "answers.html").read_text("utf-8") == paper.page(exam, answers=True)


def test_the_command_writes_the_whole_bank(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("POSENC_COURSE_SEED", SEED)
    monkeypatch.setattr(sys, "argv", ["exam", "--bank", "--out", str(tmp_path)])
    command.main()
    n = 5 * len(draw.chapters()) + command.COPIES * len(questions.TEMPLATES)
    assert f"{n} questions in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--chapters", "rotery"], r"No exam was drawn: .*not on \['rotery'\]"),
        (["--name", "?"], "must be one line with a letter or a digit"),
        (["--name", "July\a2027"], r"without control characters; got 'July\\x072027'"),
        (["--name", "July\n2027"], "must be one line"),
        (["--out", "/dev/null/exam"], "Nothing can be written to /dev/null/exam.*see --out"),
    ],
)
def test_the_command_ends_with_a_sentence(monkeypatch, tmp_path, given, message):
    monkeypatch.setenv("POSENC_COURSE_SEED", SEED)
    monkeypatch.setattr(sys, "argv", ["exam", "--out", str(tmp_path), *given])
    with pytest.raises(SystemExit, match=message):
        command.main()


def test_each_name_has_a_folder_of_its_own_however_long():
    names = ["July 2027", "july-2027", "July-2027", "july 2027", "bank", "Prüfung", "x" * 999]
    folders = {command.folder_of(name) for name in names}
    assert len({folder.casefold() for folder in folders} | {"bank"}) == len(names) + 1
    assert "july-2027" in folders
    assert max(map(len, folders)) < 100


def test_no_control_character_gets_into_xml():
    with pytest.raises(ValueError, match=r"room must be one line .*, got 'Book\\x07'"):
        moodle.bank([], "Book\a")
