"""Each broken loop is found by the right checks and by no other; right loops pass."""

import json

import pytest
import torch

from posenc.models import LanguageModel
from posenc.testing import check_writing, command_line
from posenc_book.teaching import gallery_of_loops as loops
from posenc_book.teaching.program import GPT, CausalRotary, geometric


def broken_names(report):
    return {one.name for one in report.findings if one.outcome in ("broken", "late")}


def asked(write, **words):
    return check_writing(write, seconds=60, measure=False, **words)


def tokens_alone(cls):
    """Return the loop without its scores, and without a model beside it."""

    def make():
        loop = cls()
        return lambda prompts, n_new, mask=None, cache=True: loop.write(
            prompts, n_new, mask, cache
        )[0]

    return make


@pytest.mark.parametrize("exhibit", loops.GALLERY, ids=lambda one: one.broken.__name__)
def test_a_broken_loop_is_found_by_the_right_checks_and_by_no_other(exhibit):
    report = asked(exhibit.broken, **exhibit.promised())
    assert broken_names(report) == set(exhibit.found_by), str(report)
    first = report[exhibit.found_by[0]]
    assert exhibit.because in first.hint + first.came
    assert not report.passed


@pytest.mark.parametrize("right", [loops.Loop, loops.Placed])
def test_right_loops_pass_whether_they_are_built_there_already_or_a_method(right):
    words = next(one.promised() for one in loops.GALLERY if one.right is right)
    for write in (right, right(), right().write):
        report = asked(write, **words)
        assert report.passed, str(report)


def test_every_check_finds_something_in_the_gallery():
    from posenc.testing.writing import WRITING

    found = {name for exhibit in loops.GALLERY for name in exhibit.found_by}
    assert found == {one.name for one in WRITING}


def test_without_scores_and_model_a_right_loop_passes_and_loops_with_a_fault_do_not():
    words = {"vocabulary": 40, "padding": "both"}
    assert asked(tokens_alone(loops.Loop), **words).passed
    for cls in (loops.RestartsAtZero, loops.SeesPadding, loops.FirstRowWritesForAll):
        report = asked(tokens_alone(cls), **words)
        assert not report.passed, str(report)


def test_the_books_gpt_passes_when_it_is_cold_and_is_told_that_it_draws_when_it_is_not():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        gpt = GPT(CausalRotary(geometric(8)), 30)

    def cold(prompts, n_new):
        return gpt.write(prompts, n_new, temperature=1e-6)

    report = asked(cold, vocabulary=30, model=gpt, trained=32)
    assert report.passed, str(report)
    report = asked(gpt)
    assert report.cut_short
    assert "it draws its tokens" in report.failures[0].hint


def test_equally_likely_tokens_are_no_fault_and_a_likelier_one_is():
    def logits(tokens):
        flat = torch.zeros(*tokens.shape, 12)
        flat[..., 5:7] = 1 + tokens.cumsum(1)[..., None] % 3
        return flat

    def write(token):
        def loop(prompts, n_new, cache=True):
            other = token if cache else 5
            for _ in range(n_new):
                prompts = torch.cat([prompts, torch.full_like(prompts[:, :1], other)], 1)
            return prompts

        return loop

    name = "with a cache it writes what it writes without"
    assert asked(write(6), vocabulary=12, model=logits)[name].outcome == "held"
    assert asked(write(7), vocabulary=12, model=logits)[name].outcome == "broken"


def test_padding_that_is_known_by_its_token():
    model = LanguageModel(20, 16, 2, 1, position="sinusoidal")

    def write(prompts, n_new):
        real = prompts != 0
        for _ in range(n_new):
            prompts = torch.cat([prompts, model(prompts, padding=real)[:, -1:].argmax(-1)], 1)
            real = torch.cat([real, torch.ones_like(real[:, :1])], 1)
        return prompts

    report = asked(write, vocabulary=20, pad=0, cached=False)
    assert report.promised == ("order", "padding", "stateless", "rows")
    assert report.passed, str(report)


@pytest.mark.parametrize("cls", [loops.Loop, loops.CountsPadding])
def test_a_loop_that_takes_lists_and_pads_them_itself(cls):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        loop = cls()

    def of_lists(prompts, n_new):
        real = [[0] * (max(map(len, prompts)) - len(one)) + [1] * len(one) for one in prompts]
        filled = [[9] * (len(real[0]) - len(one)) + one for one in prompts]
        came, _ = loop.write(torch.tensor(filled), n_new, torch.tensor(real).bool())
        return came[:, -n_new:].tolist()

    def write(prompts, n_new, mask):
        return of_lists([prompts[row][mask[row]].tolist() for row in range(len(mask))], n_new)

    report = asked(write, vocabulary=40, model=loop)
    assert report.passed == (cls is loops.Loop), str(report)


def test_a_report_names_prompt_and_step():
    report = asked(loops.CountsOnByColumn, padding="left")
    (finding,) = report.failures
    assert finding.smallest == "prompts of 1 and 3 tokens, padded on the left"
    assert "prompt 1, from its new token 2 on" in finding.came


@pytest.mark.parametrize(
    ("write", "words", "sentence"),
    [
        (lambda prompts, n_new: prompts, {}, "vocabulary must be given"),
        (3, {"vocabulary": 9}, "write must be a function of"),
        (torch.nn.Linear(2, 2), {"vocabulary": 9}, "a model with `write` or `generate`"),
        (loops.Loop, {"layout": "half"}, "a loop cannot promise 'layout'; the words are: cached"),
    ],
)
def test_who_asks_wrongly_is_told_what_would_be_right(write, words, sentence):
    with pytest.raises(ValueError, match=r"write|vocabulary|promise") as caught:
        check_writing(write, **words)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("came", "sentence"),
    [
        (lambda prompts, n_new: prompts, "where integers (1, 2) were due"),
        (lambda prompts, n_new: prompts.float(), "torch.float32"),
        (lambda prompts, n_new: (prompts[:, :n_new], prompts), "scores of shape (1, 1)"),
    ],
)
def test_what_is_no_text_is_a_finding(came, sentence):
    (finding,) = asked(came, vocabulary=9).failures[:1]
    assert sentence in finding.came


def test_on_a_command_line(capfd):
    path = "posenc_book.teaching.gallery_of_loops"
    words = ["--writes", "padding=left", "--json"]
    assert command_line.main([f"{path}:Loop", *words]) == 0
    assert json.loads(capfd.readouterr().out)["passed"]
    assert command_line.main([f"{path}:RestartsAtZero", *words]) == 1
    hints = [one["hint"] for one in json.loads(capfd.readouterr().out)["findings"]]
    assert any(hint.startswith("positions restart at 0") for hint in hints)


def test_generate_of_transformers():
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=60, n_embd=32, n_layer=2, n_head=4, n_positions=32)
    report = asked(lambda: transformers.GPT2LMHeadModel(config))
    assert report.passed, str(report)
    report = asked(lambda: transformers.GPT2LMHeadModel(config), padding="right")
    assert loops.RIGHT in broken_names(report)
