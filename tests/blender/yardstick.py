"""How long a step in the window may take, on a machine whose cores and caches other suites share.

The yardstick is work that takes a tenth of a second on a quiet machine. It is laid on beside every measurement: what
slows the one slows the other.
"""

from __future__ import annotations

import time

import numpy as np

ROUNDS = 75  # a tenth of a second of the machines that this was written on


def tenth_of_a_second() -> float:
    """The processor's seconds that the yardstick takes now (loops of Python, passes over memory), 0.1 at least."""
    start = time.thread_time()
    numbers = np.arange(118_000 * 3, dtype=float)
    for _ in range(ROUNDS):
        numbers = np.sqrt(numbers * numbers + 1.0)
        sum(value & 1 for value in range(40_000))
    return max(time.thread_time() - start, 0.1)
