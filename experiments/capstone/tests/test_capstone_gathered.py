"""What the file of the capstone holds, from the runs of its two examples."""

import json

from experiments.capstone import __main__ as command
from posenc_book.capstone import stretching


def test_a_set_counts_with_all_its_splits_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(stretching, "seconds_a_step", lambda _: {})
    for name, n in (("Whole", 5), ("Half", 3)):
        lines = [{"resample": s, "metrics": {"accuracy": s / 10}} for s in range(n)]
        text = "\n".join(map(json.dumps, lines))
        (tmp_path / f"second-{name}.jsonl").write_text(text)
    (tmp_path / "seeds.json").write_text('{"small": {}}')
    found = command.gathered(tmp_path / "seeds.json", tmp_path)
    assert found["nearby"] == {"Whole": [0.0, 0.1, 0.2, 0.3, 0.4]}
