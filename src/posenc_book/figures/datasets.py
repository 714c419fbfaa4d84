"""The figure of the page on data sets."""

import numpy as np

from posenc_book.data import Dataset
from posenc_book.data.elevator import CHANNELS, RATE
from posenc_book.teaching import plots


def synthetic(rides: Dataset, probe: Dataset) -> None:
    """Show a normal and a faulty ride of the elevator, and a series of the range probe.

    Parameters
    ----------
    rides, probe : Dataset
        Parts of `elevator` and of `range_probe`.
    """
    figure, (above, below) = plots.new(2, 1, height=4.4)
    figure.set_figwidth(5.6)
    channel = CHANNELS.index("motor_current_A")
    for label, name in enumerate(rides.classes):
        ride = rides.x[np.flatnonzero(rides.y == label)[2], :, channel]
        above.plot(np.arange(rides.length) / RATE, ride, label=name, linewidth=1.2)
    above.set(title="elevator", xlabel="time (s)", ylabel="motor current (A)")
    series = probe.x[np.flatnonzero(probe.y == 0)[1]]
    for number, name in enumerate(("pulse A", "pulse B")):
        below.plot(series[:, number], label=name, linewidth=1.4)
    below.set(title=f"range_probe: {probe.classes[0]}", xlabel="step", ylabel="value")
    for ax in (above, below):
        ax.legend()
    apart = abs(int(np.diff(series.argmax(axis=0))[0]))
    plots.show(
        figure,
        name="fig-synthetic",
        caption="Synthetic series: the motor current of two rides of `elevator`, and one series of "
        f"`range_probe`, with the pulses {apart} steps apart.",
        alt="Two panels. Above, the motor current of a normal and of a faulty simulated ride; the "
        "faulty ride is shorter and its current swings. Below, two channels with one pulse each, "
        f"pulse A first, {apart} steps before pulse B.",
    )
