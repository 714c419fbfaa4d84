"""Questions with numbers, drawn anew for each exam, answered by the solutions of assignments.

Each varies a question of an assignment or something that a section of a chapter shows; `of` says
which. A question is a function that draws from `rng` and returns text, answer, tolerance and why:

    @asks("raw-indices", "assignment 1, question 1")
    def third_dial(rng): ...

The tolerance is a share of the answer, and 0 where the answer is a whole number.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from course import build

CLEAR = 0.2  # no answer is so near to zero that rounding spoils it
NEAR = 0.01  # how far a rounded answer may lie from the exact one, as a share of it
Drawn = tuple[str, float, float, str]


@dataclass(frozen=True)
class Number:
    """A question whose answer is one number, and what the teacher reads beside it."""

    name: str
    chapter: str
    of: str
    points: int
    text: str
    answer: float
    tolerance: float
    why: str


@dataclass(frozen=True)
class _Template:
    chapter: str
    of: str
    points: int
    draw: Callable[[Random], Drawn]


TEMPLATES: dict[str, _Template] = {}


def asks(chapter: str, of: str, points: int = 2) -> Callable:
    """Register a function as a question on a chapter."""

    def register(draw: Callable[[Random], Drawn]) -> Callable[[Random], Drawn]:
        TEMPLATES[draw.__name__] = _Template(chapter, of, points, draw)
        return draw

    return register


def drawn(name: str, seed: str) -> Number:
    """Return a question with the numbers of a seed; the same seed gives the same numbers."""
    one = TEMPLATES[name]
    text, answer, tolerance, why = one.draw(Random(f"{seed}|{name}"))
    return Number(
        name,
        one.chapter,
        one.of,
        one.points,
        text,
        float(answer),
        float(abs(answer) * tolerance),
        why,
    )


@cache
def solved(assignment: int) -> Any:
    """Return the solutions of an assignment, by the names of their functions."""
    source = build.sources()[assignment - 1]
    names: dict[str, Any] = {"__name__": source.name}
    exec(build.PUBLIC, names)
    for cell in source.code("", "solution"):
        exec(compile(cell.text, f"{source.name}.py", "exec"), names)
    return SimpleNamespace(**{k: v for k, v in names.items() if not k.startswith("__")})


def _listed(values: list) -> str:
    return ", ".join(f"{value:g}" for value in values)


# --- order blindness


@asks("order-blindness", "Shuffle the words", points=1)
def different_rows(rng: Random) -> Drawn:
    n_words = rng.randint(5, 9)
    words = rng.sample(["Alice", "Bob", "helped", "saw", "once", "because", "when"], n_words - 2)
    sentence = words + rng.choices(words, k=2)
    rng.shuffle(sentence)
    text = (
        f"The {n_words} words *{' '.join(sentence)}* go through one layer of attention, without "
        "positions and without a mask. Its weights are random. How many different rows come out?"
    )
    why = "One row for each word of the vocabulary that occurs: equal words get equal rows."
    return text, len(set(sentence)), 0, why


@asks("order-blindness", "When nobody may look ahead")
def crowds(rng: Random) -> Drawn:
    n = rng.choice([4, 6, 7, 8])
    text = (
        f"Alice and {n} others stand in a queue, in every order that there is. A layer of "
        "attention has a causal mask and random weights, and there are no positions. How many "
        "different rows can Alice get after *one* layer?"
    )
    why = f"Each of the others stands before her or behind her: $2^{{{n}}}$ crowds."
    return text, 2**n, 0, why


@asks("order-blindness", "When nobody may look ahead")
def queues(rng: Random) -> Drawn:
    n = rng.choice([2, 3, 5])
    text = (
        f"Alice and {n} others stand in a queue, in every order that there is. A model with a "
        "causal mask and random weights has *two* layers and no positions. How many different "
        "rows can Alice get?"
    )
    parts = [math.perm(n, k) for k in range(n + 1)]
    why = "One for each queue before her, of no, one, two ... people: " + " + ".join(
        map(str, parts)
    )
    return text, sum(parts), 0, why


@asks("order-blindness", "exercise What patches see")
def patches(rng: Random) -> Drawn:
    size, n = rng.choice([2, 3, 5]), rng.randint(3, 6)
    text = (
        f"A series of {size * n} different tokens is cut into patches of {size}, and each patch "
        "becomes one token of a model without positions that averages its outputs. How many "
        f"orders of the {size * n} tokens give the same output as the original one, the original "
        "one included?"
    )
    return text, math.factorial(n), 0, f"Whole patches may change places: {n}! orders."


# --- raw indices


@asks("raw-indices", "assignment 1, question 1")
def third_dial(rng: Random) -> Drawn:
    sizes, t = [rng.randint(3, 9) for _ in range(3)], rng.randint(60, 400)
    text = (
        f"An odometer has dials of {sizes[0]}, {sizes[1]} and {sizes[2]} marks, each beginning at "
        "0. The first turns by one mark a step; whenever a dial has gone round once, the next one "
        f"turns by one. What does the *third* dial show after {t} steps?"
    )
    answer = solved(1).dials([t], sizes)[0, 2]
    why = f"It moves once in {sizes[0]} · {sizes[1]} = {sizes[0] * sizes[1]} steps."
    return text, answer, 0, why


@asks("raw-indices", "Bits", points=1)
def flips(rng: Random) -> Drawn:
    ones = rng.randint(3, 6)
    t = (2 * rng.randint(1, 5) << ones) + (1 << ones) - 1
    text = f"Places are written in bits. How many bits change from place {t} to place {t + 1}?"
    why = f"{t} is {t:b}, and {t + 1} is {t + 1:b}."
    return text, (t ^ (t + 1)).bit_count(), 0, why


@asks("raw-indices", "Fractions", points=1)
def fraction(rng: Random) -> Drawn:
    n, t = rng.choice([8, 16, 20, 25, 40, 50]), rng.randint(2, 7)
    longer = n * rng.choice([2, 4, 5])
    text = (
        f"Places are divided by the length of the text. By how much does the number of place {t} "
        f"change when a text of {n} words grows to {longer} words? (Give the size of the change.)"
    )
    return text, t / n - t / longer, NEAR, f"From {t}/{n} to {t}/{longer}."


@asks("raw-indices", "Could training make it small?")
def steepness(rng: Random) -> Drawn:
    n, d = rng.choice([200, 400, 500, 800]), rng.choice([8, 24, 32])
    text = (
        f"Tokens have {d} numbers with a spread of 1. The place $t$ = 0, 1, ..., {n - 1} is added "
        "to each of them. Estimate by which factor the largest stable step of logistic regression "
        "shrinks: take the mean of $t^2$ over all places, times the number of columns that hold it."
    )
    answer = d * (n - 1) * (2 * n - 1) / 6
    return text, answer, NEAR, "The mean of $t^2$ is $(n - 1)(2n - 1)/6$."


# --- oscillations


@asks("oscillations", "assignment 1, question 3")
def base_of(rng: Random) -> Drawn:
    d, longest = rng.choice([8, 10, 16, 32]), rng.choice([500, 1000, 2000, 5000])
    text = (
        f"A sinusoidal table has `d_model` = {d}. Its longest wave shall take exactly {longest:,} "
        "places. Which base does that need?"
    )
    why = r"$2\pi\, b^{1 - 2/d}$ places, solved for $b$: the exponent stops before 1."
    return text, solved(1).base_for(d, longest), NEAR, why


@asks("oscillations", "How slow is the slowest?")
def slowest(rng: Random) -> Drawn:
    d, base = rng.choice([4, 6, 12, 16, 20]), rng.choice([100, 1000, 50_000])
    text = (
        f"How many places does the slowest clock of the sinusoidal encoding need for one turn, "
        f"with `d_model` = {d} and base {base:,}?"
    )
    return text, 2 * math.pi * base ** (1 - 2 / d), NEAR, r"$2\pi\, b^{1 - 2/d}$, not $2\pi b$."


@asks("oscillations", "Bits become waves", points=1)
def share_of_its_way(rng: Random) -> Drawn:
    omega = rng.choice([0.2, 0.4, 0.6, 0.8, 1.5, 2.0])
    text = (
        f"A clock hand turns by {omega:g} radians a place. Which share of the way from its lowest "
        "to its highest point can its tip rise in one step, at most?"
    )
    return text, math.sin(omega / 2), NEAR, r"$2 \sin(\omega/2)$ of 2."


@asks("oscillations", "assignment 1, question 4", points=1)
def told_apart(rng: Random) -> Drawn:
    p, q = rng.choice([(6, 9), (8, 12), (10, 15), (7, 9), (8, 9), (6, 10), (9, 10)])
    text = (
        f"Two dials turn by themselves, with periods of {p} and {q} steps. How many places in a "
        "row can they tell apart?"
    )
    return text, math.lcm(p, q), 0, f"Both are back together after lcm({p}, {q}) steps."


@asks("oscillations", "assignment 1, question 5")
def distance_of_rows(rng: Random) -> Drawn:
    lengths, k = sorted(rng.sample([4, 6, 8, 12, 16, 24], 2)), rng.randint(1, 3)
    text = (
        f"A table of waves has sine and cosine of the wavelengths {lengths[0]} and {lengths[1]}. "
        f"What is the Euclidean distance between two rows that stand {k} "
        f"place{'s' * (k > 1)} apart?"
    )
    one, other = solved(1).waves([0, k], lengths)
    why = r"The root of the sum of $2 - 2\cos(2\pi k/\lambda)$ over both, wherever they stand."
    return text, np.linalg.norm(one - other), NEAR, why


# --- rotations


@asks("rotations", "assignment 2, question 1")
def entry_of_step(rng: Random) -> Drawn:
    omega, k = rng.choice([0.1, 0.2, 0.3, 0.5]), rng.choice([2, 3, 4, 5])
    text = (
        rf"A row holds $(\sin \omega t, \cos \omega t)$ with $\omega$ = {omega:g}. A matrix $M$ "
        f"takes the row of each place to the row {k} places later. Which number stands in the "
        "first row and second column of $M$?"
    )
    why = rf"$\sin(\omega k)$, as in $\sin \omega(t + k)$; $\omega k$ = {omega * k:g}."
    return text, solved(2).step_matrix([omega], k)[0, 1], NEAR, why


@asks("rotations", "Why sine alone fails")
def missed_by_sine(rng: Random) -> Drawn:
    omega, k = rng.choice([0.2, 0.4, 0.7, 1.0]), rng.choice([1, 2, 3])
    text = (
        rf"Only the sine of a clock with $\omega$ = {omega:g} is stored. Over very many places the "
        f"best factor predicts the sine {k} place{'s' * (k > 1)} later. Which share of it (as a "
        "ratio of root mean squares) does it miss?"
    )
    return text, abs(math.sin(omega * k)), NEAR, r"$\lvert \sin(\omega k) \rvert$."


@asks("rotations", "What a dot product knows")
def product_of_places(rng: Random) -> Drawn:
    omegas, answer = rng.choice([[1.0, 0.1], [0.5, 0.05], [0.8, 0.2]]), 0.0
    while abs(answer) < CLEAR:
        t, s = rng.sample(range(5, 60), 2)
        answer = sum(math.cos(omega * (t - s)) for omega in omegas)
    text = (
        f"Two clocks have the frequencies {_listed(omegas)}; each stores sine and cosine. What is "
        f"the dot product of the rows of places {t} and {s}?"
    )
    return text, answer, NEAR, rf"$\sum_i \cos \omega_i(t - s)$ with $t - s$ = {t - s}."


# --- four doors


@asks("four-doors", "The fourth door: behind the softmax")
def weight_of_the_last(rng: Random) -> Drawn:
    n, liking, bias = rng.choice([6, 8, 10]), rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 3])
    text = (
        f"A head gives its first word the score {liking}, its last one 0 and all others 0; there "
        f"are {n} words. The position adds {bias} to the score of the last word. Which weight does "
        "the last word get?"
    )
    answer = math.exp(bias) / (n - 2 + math.exp(liking) + math.exp(bias))
    why = rf"$e^{{{bias}}} / ({n - 2} + e^{{{liking}}} + e^{{{bias}}})$."
    return text, answer, NEAR, why


# --- RoPE


@asks("rotary", "assignment 2, question 2")
def turned(rng: Random) -> Drawn:
    a, b = rng.choice([(3, 4), (1, 2), (2, 1), (5, 2)])
    answer = 0.0
    while abs(answer) < CLEAR:
        omega, t = rng.choice([0.1, 0.2, 0.5]), rng.randint(2, 6)
        answer = solved(2).rotate([[a, b]], [t], [omega])[0, 0]
    text = (
        f"RoPE turns the pair ({a}, {b}) of a query at place {t}, with the frequency {omega:g} and "
        "counter-clockwise. What is its *first* number afterwards?"
    )
    why = rf"$a \cos \alpha - b \sin \alpha$ with $\alpha$ = {omega * t:g}."
    return text, answer, NEAR, why


@asks("rotary", "assignment 2, question 3", points=1)
def place_in_halves(rng: Random) -> Drawn:
    d = rng.choice([8, 16, 32, 64])
    j = rng.randrange(3, d - 1)
    text = (
        f"A head of {d} dimensions, counted from 0, is stored in the interleaved layout of RoPE "
        "and is to be loaded into a program with the half-split layout. To which place must "
        f"dimension {j} go?"
    )
    why = "Even dimensions come first, in order, then the odd ones."
    return text, list(solved(2).reorder(d)).index(j), 0, why


@asks("rotary", "What breaks: four times as long")
def second_hand(rng: Random) -> Drawn:
    d, base = rng.choice([4, 6, 8, 16]), rng.choice([1000, 20_000, 500_000])
    text = (
        f"A head has {d} dimensions and RoPE with base {base:,}. After how many places has its "
        "*second*-fastest hand gone round once?"
    )
    return text, 2 * math.pi * base ** (2 / d), NEAR, r"$2\pi\, b^{2/d}$."


@asks("rotary", "Two traps when you write your own", points=1)
def place_in_bfloat16(rng: Random) -> Drawn:
    place = 4 * rng.randint(130, 250) + rng.choice([1, 3])
    text = (
        "bfloat16 has eight significant binary digits. Somebody stores positions in it. Which "
        f"whole number stands there for position {place}?"
    )
    why = "Between 512 and 1024 it holds every fourth whole number only."
    return text, 4 * round(place / 4), 0, why


# --- the Fourier view and faithfulness


@asks("fourier-view", "assignment 3, question 1")
def slower_wave(rng: Random) -> Drawn:
    n = rng.choice([10, 12, 16, 20, 24])
    k = rng.randint(n // 2 + 1, 3 * n)
    text = (
        f"A cosine makes {k} turns over {n} equally spaced samples. Which is the smallest whole "
        "number of turns that gives the same samples?"
    )
    why = f"{k} and {n} have the remainder {k % n}; if that is above {n // 2}, count down from {n}."
    return text, solved(3).lowest_turns(k, n), 0, why


@asks("fourier-view", "assignment 3, question 2")
def share_of_energy(rng: Random) -> Drawn:
    a, b, c = (rng.randint(2, 5) for _ in range(3))
    low, high = sorted(rng.sample(range(1, 10), 2))
    n, cutoff = 24, rng.randint(low, high - 1)
    text = (
        f"A sequence of {n} samples is ${a} + {b} \\cos(2\\pi \\cdot {low} t/{n}) "
        f"+ {c} \\cos(2\\pi \\cdot {high} t/{n})$. Which share of its energy lies in waves of at "
        f"most {cutoff} turns, the constant included?"
    )
    t = np.arange(n)
    x = a + b * np.cos(2 * np.pi * low * t / n) + c * np.cos(2 * np.pi * high * t / n)
    why = f"The energies are as {a}² to {b}²/2 to {c}²/2."
    return text, solved(3).low_share(x, cutoff), NEAR, why


@asks("faithfulness", "assignment 3, question 5")
def harmless_noise(rng: Random) -> Drawn:
    rows = [[rng.randint(-6, 6), rng.randint(-6, 6)] for _ in range(4)]
    while len({tuple(row) for row in rows}) < len(rows):
        rows[-1] = [rng.randint(-6, 6), rng.randint(-6, 6)]
        rows = rows[-1:] + rows[:-1]
    text = (
        f"A table has the rows {', '.join(f'({a}, {b})' for a, b in rows)}. A model sees a row "
        "plus noise and takes the nearest row for the truth. Below which length can noise never "
        "lead to a wrong row?"
    )
    why = "Half of the smallest distance between two rows."
    return text, solved(3).safe_noise(np.array(rows, dtype=float)), NEAR, why


# --- a fair comparison


@asks("fair-comparison", "assignment 5, question 1")
def scaled_honestly(rng: Random) -> Drawn:
    train, test = rng.sample(range(21), 4), rng.randint(25, 40)
    text = (
        f"The training data are {_listed(train)}, the test data are the one number {test}. All is "
        "scaled with mean and standard deviation (divide by the number of values), without a "
        "leak. What becomes of the test number?"
    )
    one, other = np.array(train, float).reshape(1, 4, 1), np.array([[[float(test)]]])
    answer = solved(5).scale_honestly(one, other)[1].item()
    why = f"Mean {np.mean(train):g} and deviation {np.std(train):.4g}, of the training data alone."
    return text, answer, NEAR, why


@asks("fair-comparison", "assignment 5, question 2")
def leaks(rng: Random) -> Drawn:
    width = rng.choice([8, 10, 12])
    train, test = (sorted(rng.sample(range(120), 4)) for _ in range(2))
    text = (
        f"Windows of {width} samples are cut from one recording. Those for training begin at "
        f"{_listed(train)}, those for testing at {_listed(test)}. How many test windows share a "
        "sample with a training window?"
    )
    why = f"Those that begin less than {width} samples from a training window."
    return text, solved(5).leaking(train, test, width), 0, why


@asks("fair-comparison", "assignment 5, question 4")
def lower_end(rng: Random) -> Drawn:
    a = [round(rng.uniform(70, 90), 1) for _ in range(5)]
    b = [round(x - rng.uniform(-1, 3), 1) for x in a]
    text = (
        f"Two methods were trained with the same five seeds. Method A reached {_listed(a)} and "
        f"method B {_listed(b)} per cent. What is the *lower* end of the 95 % interval of the mean "
        "difference A − B? (Student's t has the quantile 2.776 for four degrees of freedom.)"
    )
    low, _ = solved(5).paired_interval(np.array(a), np.array(b))
    d = np.subtract(a, b)
    why = f"Mean {d.mean():.3g}, deviation {d.std(ddof=1):.3g}, of the five differences."
    return text, low, max(NEAR, 0.02 / max(abs(low), 1e-9)), why


# --- longer than in training


@asks("beyond-training-length", "assignment 6, question 1")
def never_came_round(rng: Random) -> Drawn:
    d, base, trained = rng.choice([8, 12, 16]), 10_000, rng.choice([64, 256, 1000])
    text = (
        f"Frequencies are $b^{{-2i/d}}$ with base {base:,} and $d$ = {d}. In training, positions "
        f"run from 0 to {trained - 1}. How many of the {d // 2} waves have not completed a full "
        "turn by then?"
    )
    frequencies = base ** (-np.arange(0, d, 2) / d)
    why = rf"Those with $\omega \cdot {trained - 1} < 2\pi$."
    return text, solved(6).unfinished(frequencies, trained), 0, why


@asks("beyond-training-length", "assignment 6, question 2")
def louder_needle(rng: Random) -> Drawn:
    share, n = rng.choice([0.5, 0.8, 0.9]), rng.choice([100, 1000, 4000, 32_000])
    text = (
        f"One key among {n:,} has the score $s$, all others have the score 0. Which $s$ gives it "
        f"{share:.0%} of the attention?"
    )
    why = r"$\ln\bigl(\text{share}\,(n - 1) / (1 - \text{share})\bigr)$."
    return text, solved(6).needed_score(share, n), NEAR, why


@asks("beyond-training-length", "assignment 6, question 3")
def enlarged_base(rng: Random) -> Drawn:
    base, d, factor = 10_000, rng.choice([8, 16, 32]), rng.choice([2, 4, 8])
    text = (
        f"A head of {d} dimensions has RoPE with base {base:,}. Which base makes its slowest wave "
        f"{factor} times as long, while the fastest stays as it is?"
    )
    second = solved(6).stretched(base, d, factor)[1]
    why = r"$b \cdot \text{factor}^{d/(d - 2)}$."
    return text, second ** (-d / 2), NEAR, why


@asks("beyond-training-length", "assignment 6, question 4")
def reach(rng: Random) -> Drawn:
    slope, share = rng.choice([0.25, 0.125, 0.0625]), rng.choice([0.5, 0.9, 0.99])
    text = (
        f"A head of ALiBi subtracts {slope:g} times the distance from each score. The past is "
        "endless, and all content scores are equal. Which is the smallest number of nearest keys, "
        f"the token's own among them, that together get at least {share:.0%} of the weight?"
    )
    why = r"The nearest $w$ keys get $1 - e^{-mw}$."
    return text, solved(6).reach(slope, share), 0, why
