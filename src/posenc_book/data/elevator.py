"""elevator: simulated rides of a lift with injected faults. Always synthetic.

The elevator recordings of the paper on faithful encodings are not public. This simulator is not a
model of them: it offers a task of the same kind (20 channels, one binary label for each window).

One series is one ride of 20 s at 10 Hz in SI units. The car waits, its door closes, it rides 1 to 4
floors of 3 m up or down, its door opens. The speed follows the usual jerk-limited profile: a
rectangle of the rated speed v and of duration D / v, smoothed by a moving average over v / a and by
another over a / j. It covers the distance D exactly and, since D / v > v / a + a / j here, exceeds
neither the speed v nor the acceleration a nor the jerk j. Every channel is computed from this
motion, the load and the door, and gets sensor noise. A faulty ride has one fault, of random kind,
place and strength:

    bump      the car hits a flaw of the rail: a short burst in the lateral accelerations
    bearing   vibration with the turning sheave: acceleration, sound and motor current
    brake     the brake drags: motor current and brake temperature rise while the car moves
    door      the door stops half-way and tries again
    levelling the car stops off the floor and creeps to it
"""

import numbers
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.data.dataset import Dataset
from posenc_book.data.streams import generator

CLASSES = ("normal", "faulty")
# channel: standard deviation of its sensor's noise, in the unit that ends the channel's name
NOISE = {
    "height_m": 0.005,
    "speed_m_s": 0.01,
    "acceleration_x_m_s2": 0.02,
    "acceleration_y_m_s2": 0.02,
    "acceleration_z_m_s2": 0.02,
    "jerk_m_s3": 0.2,
    "motor_speed_rad_s": 0.05,
    "motor_torque_N_m": 4.0,
    "motor_current_A": 0.3,
    "supply_voltage_V": 1.0,
    "power_kW": 0.1,
    "rope_tension_kN": 0.03,
    "load_kg": 2.0,
    "brake_open": 0.0,
    "brake_temperature_C": 0.05,
    "door_position": 0.003,
    "door_current_A": 0.05,
    "sound_dB": 0.8,
    "levelling_error_mm": 0.3,
    "machine_temperature_C": 0.05,
}
CHANNELS = tuple(NOISE)
LENGTH = 200
RATE = 10.0  # Hz
FINE = 10  # simulated steps for each sample
RATED_SPEED, MAX_ACCELERATION, MAX_JERK = 1.2, 1.0, 1.2  # m/s, m/s^2, m/s^3
FLOOR = 3.0  # m
CAR, COUNTERWEIGHT = 800.0, 1000.0  # kg
SHEAVE = 0.25  # m, radius
GRAVITY = 9.81  # m/s^2


@dataclass
class Ride:
    """What happens in one ride, at every sample."""

    time: NDArray[np.float64]
    channels: dict[str, NDArray[np.float64]]

    @property
    def moving(self) -> NDArray[np.bool_]:
        return np.abs(self.channels["speed_m_s"]) > 0.02


def elevator(
    split: str, *, n: int = 400, fault_share: float = 0.3, noise: float = 1.0, seed: int = 0
) -> Dataset:
    """Return simulated rides of a lift, normal or faulty; equal arguments, equal bytes."""
    n = _checks.count("n", n, minimum=1)
    _check_share(fault_share)
    noise = noise if noise == 0 else _checks.positive("noise", noise)
    rng = generator(split, seed)
    y = rng.permutation(np.arange(n) < round(n * fault_share)).astype(np.int64)
    x = np.stack([_measure(rng, bool(faulty), noise) for faulty in y])
    provenance = (
        f"synthetic: elevator(n={n}, fault_share={fault_share}, noise={noise}, seed={seed}), "
        f"{split} part; a simulator, not the recordings of the paper"
    )
    return Dataset(x.astype(np.float32), y, CLASSES, "elevator", provenance)


def _check_share(fault_share: float) -> None:
    real = isinstance(fault_share, numbers.Real) and not isinstance(fault_share, bool)
    if not (real and 0 <= fault_share <= 1):
        raise ValueError(f"fault_share must be a number from 0 to 1, got {fault_share!r}")


def speed_profile(distance: float, rate: float) -> NDArray[np.float64]:
    """Return the speed in m/s, sampled at `rate` Hz, of a jerk-limited ride over `distance` metres.

    Three moving averages in a row, written as convolutions; the sum over the ride is the distance.
    """
    durations = (
        distance / RATED_SPEED,
        RATED_SPEED / MAX_ACCELERATION,
        MAX_ACCELERATION / MAX_JERK,
    )
    rectangle, *averages = (np.ones(max(1, round(rate * one))) for one in durations)
    profile: NDArray[np.floating] = rectangle * distance * rate / len(rectangle)
    for box in averages:
        profile = np.convolve(profile, box / len(box))
    return profile.astype(np.float64, copy=False)


def _measure(rng: np.random.Generator, faulty: bool, noise: float) -> NDArray[np.float64]:
    ride = _simulate(rng)
    if faulty:
        _FAULTS[rng.integers(len(_FAULTS))](rng, ride)
    clean = np.stack([ride.channels[channel] for channel in CHANNELS], axis=1)
    return clean + noise * np.array(list(NOISE.values())) * rng.normal(size=clean.shape)


def _simulate(rng: np.random.Generator) -> Ride:
    direction = rng.choice([-1.0, 1.0])
    floors = rng.integers(1, 5)
    load = rng.uniform(0, 600)
    start = rng.uniform(3.0, 4.5)  # s: the door has closed
    speed = np.zeros(LENGTH * FINE)
    profile = direction * speed_profile(floors * FLOOR, RATE * FINE)
    first = round(start * RATE * FINE)
    speed[first : first + len(profile)] = profile
    return _sensors(rng, speed, load, start, (first + len(profile)) / (RATE * FINE))


def _sensors(
    rng: np.random.Generator, fine_speed: NDArray, load: float, start: float, stop: float
) -> Ride:
    step = 1 / (RATE * FINE)
    fine_acceleration = np.gradient(fine_speed, step)
    height, speed, acceleration, jerk = (
        one[::FINE]
        for one in (
            np.cumsum(fine_speed) * step,
            fine_speed,
            fine_acceleration,
            np.gradient(fine_acceleration, step),
        )
    )
    time = np.arange(LENGTH) / RATE
    moving = (time >= start - 0.3) & (time <= stop + 0.3)
    closing, opening = (start - 0.5 - time) / 2, (time - stop - 1) / 2
    door = np.clip(closing, 0, 1) + np.clip(opening, 0, 1)
    force = (CAR + load - COUNTERWEIGHT) * GRAVITY + (CAR + load + COUNTERWEIGHT) * acceleration
    torque = np.where(moving, force * SHEAVE, 0.0)
    motor_speed = speed / SHEAVE
    power = torque * motor_speed / 1000
    current = 2 + np.abs(torque) / 40
    vibration = 0.02 * np.abs(speed)
    channels = {
        "height_m": height,
        "speed_m_s": speed,
        "acceleration_x_m_s2": vibration * rng.normal(size=LENGTH),
        "acceleration_y_m_s2": vibration * rng.normal(size=LENGTH),
        "acceleration_z_m_s2": GRAVITY + acceleration,
        "jerk_m_s3": jerk,
        "motor_speed_rad_s": motor_speed,
        "motor_torque_N_m": torque,
        "motor_current_A": current,
        "supply_voltage_V": 400 - 0.2 * current,
        "power_kW": power,
        "rope_tension_kN": (CAR + load) * (GRAVITY + acceleration) / 1000,
        "load_kg": np.full(LENGTH, load),
        "brake_open": moving.astype(float),
        "brake_temperature_C": np.full(LENGTH, rng.uniform(30, 40)),
        "door_position": door,
        "door_current_A": 1.5 * (np.abs(np.gradient(door)) > 0),
        "sound_dB": 42 + 8 * np.abs(speed) + 6 * (np.abs(np.gradient(door)) > 0),
        "levelling_error_mm": np.where(time > stop, rng.normal(0, 2), 0.0),
        "machine_temperature_C": rng.uniform(25, 35) + np.cumsum(np.abs(power)) / (60 * RATE),
    }
    return Ride(time, channels)


def _bump(rng: np.random.Generator, ride: Ride) -> None:
    at = rng.choice(np.flatnonzero(ride.moving))
    burst = rng.uniform(0.3, 0.8) * np.exp(-np.abs(ride.time - ride.time[at]) / 0.15)
    ride.channels["acceleration_x_m_s2"] += burst * rng.choice([-1, 1])
    ride.channels["acceleration_y_m_s2"] += 0.6 * burst * rng.choice([-1, 1])


def _bearing(rng: np.random.Generator, ride: Ride) -> None:
    angle = np.cumsum(ride.channels["motor_speed_rad_s"]) / RATE
    swing = rng.uniform(0.5, 1.0) * np.sin(angle + rng.uniform(0, 2 * np.pi)) * ride.moving
    ride.channels["acceleration_z_m_s2"] += 0.2 * swing
    ride.channels["motor_current_A"] += 2.0 * swing
    ride.channels["sound_dB"] += 4.0 * np.abs(swing)


def _brake(rng: np.random.Generator, ride: Ride) -> None:
    drag = rng.uniform(0.15, 0.4) * ride.moving
    ride.channels["motor_current_A"] += 10 * drag
    ride.channels["brake_temperature_C"] += np.cumsum(drag) / RATE * 3


def _door(rng: np.random.Generator, ride: Ride) -> None:
    door = ride.channels["door_position"]
    half = np.flatnonzero((door[1:] < door[:-1]) & (door[1:] < 0.7))
    at = half[0] + rng.integers(3) if len(half) else 5
    held = int(rng.integers(8, 15))
    door[at : at + held] = np.clip(door[at] + 0.05 * np.arange(held), 0, 1)
    ride.channels["door_current_A"][at : at + held] += 1.0


def _levelling(rng: np.random.Generator, ride: Ride) -> None:
    last = np.flatnonzero(ride.moving)[-1]
    error = rng.choice([-1, 1]) * rng.uniform(10, 30)
    creep = np.exp(-(ride.time - ride.time[last]) / 1.5) * (ride.time >= ride.time[last])
    ride.channels["levelling_error_mm"] += error * creep
    ride.channels["height_m"] += error / 1000 * creep


_FAULTS: tuple[Callable[[np.random.Generator, Ride], None], ...] = (
    _bump,
    _bearing,
    _brake,
    _door,
    _levelling,
)
