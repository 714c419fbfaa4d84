"""No part grows unnoticed: `tools/sizes.toml` says how large each may be, and why it was raised."""

import sizes


def test_no_part_is_larger_than_its_table_says():
    bounds = {name: sizes.bound(entry) for name, entry in sizes.table().items()}
    too_large = {n: (size, bounds[n]) for n, size in sizes.measured().items() if size > bounds[n]}
    assert not too_large, "take something out, or say in tools/sizes.toml what came and what went"


def test_who_raises_a_bound_says_by_how_much_what_came_and_what_went():
    for entry in sizes.table().values():
        for one in entry.get("raised", []):
            assert one["by"] > 0
            assert one["came"]
            assert one["went"]


def test_every_file_of_code_belongs_to_one_part():
    parts = [entry for entry in sizes.table().values() if "paths" in entry]
    counted = [sizes.files(p["paths"]) - sizes.files(p.get("without", [])) for p in parts]
    every = sizes.files(["src", "tests", "tools", "course", "peers", "benchmarks", "experiments"])
    assert every - set().union(*counted) - sizes.files(["course/dist"]) == set()
    assert sum(map(len, counted)) == len(set().union(*counted))
