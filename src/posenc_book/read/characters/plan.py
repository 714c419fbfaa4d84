"""What the model of characters trains: its stored plan, and the schedules that came later."""

from posenc_book.read import plans
from posenc_book.records.hashes import hashed

AS_TRAINED = "as trained"

PROTOCOL = plans.load("characters")
HASH = hashed(PROTOCOL)

# 25 November 2026: two schedules more, each frozen before it was read. The models of rotary
# encoding are trained once more for each. LongRoPE's divisors are searched on the training text:
# what is to be small is the loss at the longest context, at as many places as in the test text.
LATER = plans.load("characters", "later")
LATER_HASHES = {schedule: hashed(plan) for schedule, plan in LATER.items()}
