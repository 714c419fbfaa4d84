"""The two synthetic families: repeatable, labelled, and with the properties they promise."""

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data import elevator
from posenc_book.data.elevator import CHANNELS, FLOOR, MAX_ACCELERATION, MAX_JERK, RATED_SPEED

FAMILIES = ("elevator", "range_probe")


@pytest.mark.parametrize("name", FAMILIES)
def test_same_arguments_same_bytes(name):
    one, two = (data.load(name, "train", n=20, seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.x, two.x)
    np.testing.assert_array_equal(one.y, two.y)
    for other in (data.load(name, "test", n=20, seed=5), data.load(name, "train", n=20, seed=6)):
        assert not np.array_equal(one.x, other.x)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("options", [{"seed": -1}, {"noise": -1}])
def test_wrong_arguments(name, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must"):
        data.load(name, "train", **options)


def test_elevator_form():
    rides = data.load("elevator", "train", n=30, fault_share=0.5)
    assert rides.x.shape == (30, 200, 20)
    assert len(set(CHANNELS)) == 20
    assert np.isfinite(rides.x).all()
    assert rides.y.sum() == 15


@pytest.mark.parametrize("floors", range(1, 5))
def test_elevator_motion_is_jerk_limited_and_exact(floors):
    rate = 1000.0
    speed = elevator.speed_profile(floors * FLOOR, rate)
    acceleration = np.diff(speed, prepend=0, append=0) * rate
    jerk = np.diff(acceleration) * rate
    assert speed.sum() / rate == pytest.approx(floors * FLOOR, rel=1e-9)
    assert speed.max() <= RATED_SPEED * 1.001
    assert np.abs(acceleration).max() <= MAX_ACCELERATION * 1.001
    assert np.abs(jerk).max() <= MAX_JERK * 1.005
    np.testing.assert_allclose(speed, speed[::-1], atol=1e-9)


def test_elevator_channels_agree_with_each_other():
    rides = data.load("elevator", "train", n=20, fault_share=0, noise=0)
    at = CHANNELS.index
    height, speed = rides.x[:, :, at("height_m")], rides.x[:, :, at("speed_m_s")]
    travelled = np.abs(height[:, -1]) / FLOOR
    np.testing.assert_allclose(travelled, np.rint(travelled), atol=1e-3)
    np.testing.assert_allclose(np.cumsum(speed, axis=1)[:, -1] / 10, height[:, -1], atol=0.02)
    moving = np.abs(speed) > 0
    assert (rides.x[:, :, at("door_position")][moving] == 0).all()  # no ride with an open door
    assert (rides.x[:, :, at("brake_open")][moving] == 1).all()
    assert (rides.x[:, 0, at("door_position")] == 1).all()
    assert (rides.x[:, -1, at("door_position")] > 0.9).all()


@pytest.mark.parametrize("fault", elevator._FAULTS)
def test_every_fault_shows(fault):
    for seed in range(5):
        ride = elevator._simulate(np.random.default_rng(seed))
        before = {name: values.copy() for name, values in ride.channels.items()}
        fault(np.random.default_rng(seed), ride)
        after = ride.channels
        changed = [name for name in CHANNELS if not np.array_equal(before[name], after[name])]
        assert changed
        largest = max(
            np.abs(after[name] - before[name]).max() / elevator.NOISE[name] for name in changed
        )
        assert largest > 4  # beyond the noise of at least one sensor


@pytest.mark.parametrize("distance", [1, 5, 15])
def test_range_probe_has_its_events_at_the_distance(distance):
    probe = data.load("range_probe", "train", n=200, distance=distance, length=32, noise=0)
    a, b = probe.x[:, :, 0].argmax(axis=1), probe.x[:, :, 1].argmax(axis=1)
    np.testing.assert_array_equal((b - a) % 32, np.where(probe.y == 0, distance, 32 - distance))
    assert probe.y.sum() == 100
    np.testing.assert_array_equal(probe.x.sum(axis=1), 1)


def test_range_probe_says_nothing_through_one_event():
    probe = data.load("range_probe", "train", n=40_000, distance=5, length=16, noise=0)
    for channel in (0, 1):
        at = probe.x[:, :, channel].argmax(axis=1)
        share = np.bincount(at, weights=probe.y, minlength=16) / np.bincount(at, minlength=16)
        np.testing.assert_allclose(share, 0.5, atol=0.05)  # five standard errors


@pytest.mark.parametrize("distance", [0, 16, 20, 1.5])
def test_range_probe_refuses_impossible_distances(distance):
    with pytest.raises(ValueError, match="distance must"):
        data.load("range_probe", "train", distance=distance, length=32)
