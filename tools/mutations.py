"""Plant mistakes that a person makes, one at a time, and see whether the tests notice.

    python tools/mutations.py                # all of them, some minutes
    python tools/mutations.py rope padding   # those with one of these words in file or description

Each mistake changes one place of a copy of the repository, in a folder that is removed in the end.
The tests that should notice run there: first all of them without a mistake, then those of each. One
that survives is told apart, and ends the command with an error: write the test that is missing.
The sandbox needs Linux with user namespaces.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import repository

FAILED = 1  # pytest's exit status where tests ran and some failed
PATIENCE = 900  # seconds that the tests of one mistake may take; a hang is noticed, too


class Mistake(NamedTuple):
    """One place of a file, what stands there instead, and the tests that should notice."""

    what: str
    file: str
    old: str
    new: str
    tests: str


MISTAKES = [
    # encodings and attention
    Mistake(
        "ALiBi rewards distance",
        "src/posenc/encodings/distance.py",
        "return -self.slopes[:, None]",
        "return self.slopes[:, None]",
        "tests/torch/test_torch_encodings.py::test_alibi_slopes_and_bias",
    ),
    Mistake(
        "LongRoPE's gain is forgotten",
        "src/posenc/register/scaling.py",
        'not in ("yarn", "longrope")',
        'not in ("yarn",)',
        "tests/register/test_register.py",
    ),
    Mistake(
        "T5's buckets lose the last one",
        "src/posenc/encodings/distance.py",
        "(self.max_distance / single) * (half - single)",
        "(self.max_distance / single) * (half - single - 1)",
        "tests/torch/test_torch_encodings.py::test_t5_buckets_and_bias",
    ),
    Mistake(
        "RoPE swaps the members of a pair",
        "src/posenc/attention/turning.py",
        "a, b = x[..., ::2], x[..., 1::2]",
        "b, a = x[..., ::2], x[..., 1::2]",
        "tests/torch/test_torch_encodings.py::test_rotary_turns_pairs",
    ),
    Mistake(
        "RoPE's gradient turns on instead of back",
        "src/posenc/attention/turning.py",
        'turn(d_out, cos, -sin, "interleaved")',
        'turn(d_out, cos, sin, "interleaved")',
        "tests/torch/test_torch_turning.py",
    ),
    Mistake(
        "RoPE takes halves for neighbours",
        "src/posenc/attention/turning.py",
        'if pairing == "interleaved":\n        a, b =',
        'if pairing != "interleaved":\n        a, b =',
        "tests/torch/test_torch_encodings.py::test_rotary_turns_pairs",
    ),
    Mistake(
        "xPos lets keys fade where they should grow",
        "src/posenc/encodings/xpos.py",
        "turned_k / of_keys",
        "turned_k * of_keys",
        "tests/torch/test_torch_modern.py::test_products_decay_into_the_past_and_grow_into_the_future",
    ),
    Mistake(
        "offsets run from the key to the query",
        "src/posenc/attention/places.py",
        "self.keys[:, None] - self.queries[:, :, None]",
        "self.queries[:, :, None] - self.keys[:, None]",
        "tests/torch/test_torch_positions.py::test_whole_positions_equal_the_loops",
    ),
    Mistake(
        "exponentials that vanish are taken for safe",
        "src/posenc/attention/fast/blocks.py",
        "_SAFE = 80.0",
        "_SAFE = 800.0",
        "tests/torch/test_torch_extreme_scores.py::test_every_kernel_bears_extreme_scores",
    ),
    Mistake(
        "scores are divided by the width of the model",
        "src/posenc/attention/core.py",
        "self.scale = self.d_head**-0.5",
        "self.scale = self.d_model**-0.5",
        "tests/torch/test_torch_encodings.py::test_none_is_plain_attention",
    ),
    Mistake(
        "a causal mask lets the next token be seen",
        "src/posenc/attention/masks.py",
        "earlier = behind >= 0",
        "earlier = behind >= -1",
        "tests/torch/test_torch_causal.py::test_a_causal_layer_equals_the_loops",
    ),
    Mistake(
        "a window is one token too wide",
        "src/posenc/attention/masks.py",
        "behind.abs() < window",
        "behind.abs() <= window",
        "tests/torch/test_torch_causal.py::test_a_window_equals_the_loops",
    ),
    Mistake(
        "tokens beside a cache count from 0 again",
        "src/posenc/attention/cache.py",
        "if self._kept is None else self._kept.steps\n        return steps",
        "if self._kept is None else Steps(0, x.device)\n        return steps",
        "tests/torch/test_torch_cache.py::test_parts_give_what_the_whole_gives",
    ),
    Mistake(
        "the mean over tokens counts padding",
        "src/posenc/models/pooling.py",
        "real.sum(1).clamp(min=1)",
        "x.shape[1]",
        "tests/torch/test_torch_models.py::test_padding_is_the_same_as_a_shorter_series",
    ),
    Mistake(
        "the largest token may be padding",
        "src/posenc/models/pooling.py",
        "x.masked_fill(~real, lowest)",
        "(x * real)",
        "tests/torch/test_torch_models.py::test_padding_is_the_same_as_a_shorter_series",
    ),
    Mistake(
        "what somebody wrote into a constant is undone",
        "src/posenc/attention/position.py",
        "        self._adopt()\n        super()._apply(fn, recurse)",
        "        super()._apply(fn, recurse)",
        "tests/torch/test_torch_transforms.py::test_what_somebody_writes_into_a_constant_stays",
    ),
    Mistake(
        "a layer that goes by positions goes by order",
        "src/posenc/attention/layer.py",
        'by_position = self.causal == "positions" and not places.counted',
        "by_position = False",
        "tests/torch/test_torch_order.py::"
        "test_a_layer_that_goes_by_positions_equals_one_whose_tokens_are_sorted",
    ),
    Mistake(
        "a cache keeps one token fewer than the window of its layer shows",
        "src/posenc/attention/cache.py",
        "else min(n, self.window - 1)",
        "else min(n, self.window - 2)",
        "tests/torch/test_torch_cache_moves.py::test_a_cache_takes_the_window_of_its_layer",
    ),
    Mistake(
        "a GPT that writes moves the clocks of one layer",
        "src/posenc_book/teaching/program.py",
        "in (self, *(layer.attention for layer in self.layers)):",
        "in (self,):",
        "tests/teaching/test_program.py::"
        "test_a_gpt_whose_layers_disagree_writes_what_it_reads_at_every_word",
    ),
    # mathematics
    Mistake(
        "geometric frequencies have a wrong exponent",
        "src/posenc/frequencies.py",
        "d_model), 2) / d_model",
        "d_model), 2) / (d_model - 2)",
        "tests/core/test_frequencies.py::test_geometric_is_exact_to_a_few_roundings",
    ),
    Mistake(
        "cosines stand before sines",
        "src/posenc/tables/waves.py",
        "table[rows, 0::2] = np.sin(angles)\n        table[rows, 1::2] = np.cos",
        "table[rows, 1::2] = np.sin(angles)\n        table[rows, 0::2] = np.cos",
        "tests/core/test_tables.py::test_encode_interleaves_sine_first",
    ),
    Mistake(
        "columns of the DFT encoding stand in another order",
        "src/posenc/tables/fourier.py",
        "cosines[phase]\n        table[rows, d_model // 2 : -1] = sines[phase]",
        "sines[phase]\n        table[rows, d_model // 2 : -1] = cosines[phase]",
        "tests/core/test_tables.py::test_dft_equals_the_paper",
    ),
    Mistake(
        "a reconstruction loses its norm",
        "src/posenc/fourier.py",
        "return result * np.divide(norm, new_norm",
        "return result * np.divide(new_norm, new_norm",
        "tests/core/test_fourier.py::test_reconstruct_equals_algorithm_1",
    ),
    Mistake(
        "YaRN's ramp runs the other way",
        "src/posenc/schedules.py",
        "by_parts(omega, factor, 1 - _ramp(",
        "by_parts(omega, factor, _ramp(",
        "tests/core/test_schedules.py::test_yarn_over_pairs_is_the_authors_program",
    ),
    Mistake(
        "noise grows with the number of columns",
        "src/posenc/faithfulness/decoding.py",
        "rms_norm(rows) / np.sqrt(rows.shape[1])",
        "rms_norm(rows)",
        "tests/core/test_faithfulness.py::test_decoding_error_equals_its_definition",
    ),
    # data
    Mistake(
        "a resample puts one series into both parts",
        "src/posenc_book/data/resamples.py",
        "same = identities((both,))[0]",
        "same = np.arange(len(both))",
        "tests/data/test_data_resamples.py::"
        "test_identical_series_stay_together_even_under_two_labels",
    ),
    Mistake(
        "the fourth series of a .ts file gets the label of the first",
        "src/posenc_book/data/formats/ts.py",
        "labels.append(index[label.strip()])",
        "labels.append(labels[0] if len(labels) == 3 else index[label.strip()])",
        "tests/data/test_data_formats.py::test_each_of_many_series_keeps_its_own_label",
    ),
    Mistake(
        "the test part decides how series are scaled",
        "src/posenc_book/bench/parts.py",
        "data.channel_statistics(parts[0])",
        "data.channel_statistics(parts[-1])",
        "tests/bench/test_bench_train.py::"
        "test_parts_are_normalised_on_training_only_and_capped_by_class",
    ),
    Mistake(
        "validation and test part are exchanged",
        "src/posenc_book/bench/parts.py",
        "for part in (train, held_out, test)]",
        "for part in (train, test, held_out)]",
        "tests/bench/test_bench_train.py::test_the_test_part_decides_nothing "
        "tests/bench/test_bench_train.py::"
        "test_parts_are_normalised_on_training_only_and_capped_by_class",
    ),
    # training and results
    Mistake(
        "the learning rate rises one step late",
        "src/posenc_book/bench/course.py",
        "settings.learning_rate * (step + 1) / rise",
        "settings.learning_rate * step / rise",
        "tests/bench/test_bench_train.py::test_learning_rate_rises_then_falls_to_zero",
    ),
    Mistake(
        "the last check is scored in place of the best",
        "src/posenc_book/bench/train.py",
        "tensor.copy_(self.kept[name])",
        "pass",
        "tests/bench/test_bench_train.py::test_the_best_validation_epoch_is_what_is_scored",
    ),
    Mistake(
        "trials are chosen by the test part",
        "src/posenc_book/bench/tuning.py",
        'return metrics["validation_accuracy"], -math.inf',
        'return metrics.get("accuracy", metrics["validation_accuracy"]), -math.inf',
        "tests/bench/test_bench_tuning.py::test_the_test_part_chooses_nothing",
    ),
    Mistake(
        "the store forgets a newline",
        "src/posenc_book/records/store.py",
        "_write_whole(descriptor, line.encode())",
        "_write_whole(descriptor, line.strip().encode())",
        "tests/bench/test_bench_store.py::test_a_line_has_exactly_the_promised_fields "
        "tests/bench/test_bench_store.py::test_what_is_appended_is_read_and_known",
    ),
    Mistake(
        "of several records of one cell a failed one counts",
        "src/posenc_book/records/store.py",
        'if old is None or "error" in old:',
        'if old is None or "error" in record:',
        "tests/bench/test_bench_store.py::test_unique_prefers_the_first_that_finished",
    ),
    Mistake(
        "failed trainings of what might have been chosen are not counted",
        "src/posenc_book/read/edition3/reading.py",
        "[TEN if CHOSEN in pair else pair for pair in one.pairs]",
        "list(one.pairs)",
        "tests/experiments/edition3/test_edition3_reading.py::"
        "test_a_failed_training_of_any_that_might_be_chosen_counts",
    ),
    # statistics
    Mistake(
        "accuracies are compared as floats, so that rounding breaks ties",
        "src/posenc_book/statistics/friedman.py",
        "means = set_means(differences).round(DECIMALS)",
        "means = set_means(differences)",
        "tests/statistics/test_friedman.py::test_rounding_noise_makes_no_rank",
    ),
    Mistake(
        "Holm's factor is one too large",
        "src/posenc_book/statistics/friedman.py",
        "np.arange(p_values.size, 0, -1)",
        "np.arange(p_values.size + 1, 1, -1)",
        "tests/statistics/test_friedman.py::test_holm_of_a_worked_example",
    ),
    Mistake(
        "Wilcoxon's test drops differences of 0 unasked",
        "src/posenc_book/statistics/friedman.py",
        'if zeros == "wilcox":',
        "if zeros:",
        "tests/statistics/test_friedman.py::test_wilcoxon_equals_all_patterns_of_signs",
    ),
    Mistake(
        "the worst method has rank 1",
        "src/posenc_book/statistics/summary.py",
        "stats.rankdata(-_table(scores), axis=1)",
        "stats.rankdata(_table(scores), axis=1)",
        "tests/statistics/test_summary.py::test_ranks_share_ties_and_sum_up",
    ),
    # verdicts
    Mistake(
        "a claim that fails is confirmed",
        "src/posenc_book/audit/claims.py",
        "\n    if not holds:",
        "\n    if holds:",
        "tests/audit/test_audit_claims.py::test_a_claim_that_holds_is_confirmed",
    ),
    Mistake(
        "power for too large a difference counts",
        "src/posenc_book/audit/rules.py",
        "evidence.power_for <= target",
        "evidence.power_for >= target",
        "tests/audit/test_audit_rules.py::"
        "test_power_for_a_larger_difference_than_asked_does_not_count",
    ),
    Mistake(
        "a difference is shown above the level of the test",
        "src/posenc_book/audit/evidence.py",
        "apart = evidence.difference.value <= alpha",
        "apart = evidence.difference.value <= 2 * alpha",
        "tests/audit/test_audit_rules.py::"
        "test_a_difference_is_shown_up_to_the_level_and_no_further",
    ),
    Mistake(
        "rounded figures that only touch are out of order",
        "src/posenc_book/audit/rounding.py",
        "(wide and left.low == right.high)",
        "(wide and left.low > right.high)",
        "tests/audit/test_audit_rounding.py::test_neighbouring_printed_figures_are_in_order",
    ),
    # marking
    Mistake(
        "the sandbox gives a run thirty times its time",
        "course/sandbox.py",
        "min(start + limits.seconds,",
        "min(start + 30 * limits.seconds,",
        "course/tests/test_course_sandbox.py::test_a_run_ends_and_leaves_no_process",
    ),
    Mistake(
        "rounding excuses a wrong formula",
        "course/checks.py",
        "min(ROOM * far, MOST_ROOM * size)",
        "max(ROOM * far, MOST_ROOM * size)",
        "course/tests/test_course_marking.py::test_a_wrong_formula_fails_in_either_precision",
    ),
    Mistake(
        "one right case earns all points",
        "course/mark.py",
        "passed = right == len(cases)",
        "passed = right > 0",
        "course/tests/test_course_marking.py::test_wrong_values_are_wrong_in_whatever_they_come "
        "course/tests/test_course_marking.py::test_a_partly_correct_submission_gets_its_part",
    ),
    # forecasting
    Mistake(
        "series with many windows count more",
        "src/posenc_book/forecast/train.py",
        "float((sums[there] / counts[there]).mean())",
        "float(sums.sum() / counts.sum())",
        "tests/forecast/test_forecasting_training.py::"
        "test_errors_are_means_of_series_not_of_windows",
    ),
    Mistake(
        "a family is judged on the units that happen to be there",
        "src/posenc_book/read/forecasting/answers.py",
        "    if len(whole) < len(family.units):\n        return Answered(family, whole)",
        "    family = replace(family, units=whole)\n    if len(whole) < 2:\n"
        "        return Answered(family, whole)",
        "tests/experiments/forecasting/test_forecasting_reading.py::"
        "test_a_family_that_is_not_whole_is_told_and_not_judged",
    ),
]


def planted(mistake: Mistake, root: Path) -> str:
    """Return the file with the mistake in it; a ValueError where its place is not found once."""
    text = (root / mistake.file).read_text(encoding="utf-8")
    if text.count(mistake.old) != 1:
        raise ValueError(
            f"{mistake.file} must hold {mistake.old!r} once for the mistake {mistake.what!r}, "
            f"got it {text.count(mistake.old)} times"
        )
    return text.replace(mistake.old, mistake.new)


def run(tests: Sequence[str], root: Path) -> tuple[int, str]:
    """Return pytest's exit status, and what it printed; a hang counts as a failure."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "POSENC_REQUIRE_SANDBOX": "1",
        "PYTHONPATH": str(root / "src"),
    }
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return FAILED, "it hangs"
    return done.returncode, done.stdout + done.stderr


def survives(mistake: Mistake, root: Path) -> bool:
    """Plant a mistake, run its tests, take it back; return whether no test has noticed."""
    path = root / mistake.file
    right, wrong = path.read_text(encoding="utf-8"), planted(mistake, root)
    path.write_text(wrong, encoding="utf-8")
    try:
        return run(mistake.tests.split(), root)[0] != FAILED
    finally:
        path.write_text(right, encoding="utf-8")


def main(words: Sequence[str]) -> None:
    """Try all mistakes, or those with one of the words in their description or file."""
    chosen = [m for m in MISTAKES if not words or any(w in f"{m.what} {m.file}" for w in words)]
    if not chosen:
        sys.exit(f"no mistake has one of these words: {', '.join(words)}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repository.copy_to(root)
        status, said = run(sorted({test for m in chosen for test in m.tests.split()}), root)
        if status:
            sys.exit(f"{said}\nThe tests fail without any mistake planted: mend that first.")
        survivors = 0
        for mistake in chosen:
            begun = time.monotonic()
            survived = survives(mistake, root)
            survivors += survived
            seconds = time.monotonic() - begun
            verdict = "SURVIVED" if survived else "caught"
            print(f"{verdict:8} {seconds:4.0f} s  {mistake.what} ({mistake.file})", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mistakes were caught")
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
