"""Writes schedules.json: the arrival times of `vllm bench serve` for some seeds, rates and burstinesses.

    python3 -m venv venv && venv/bin/pip install numpy && venv/bin/python make_schedules.py > schedules.json

The function below says in NumPy what vllm 0.33's get_request does: one gamma draw a request from the legacy global
generator, summed, and scaled so that the last request is due at requests/rate. Long schedules are thinned: the file holds
every `step`-th time and the last one.
"""

import json

import numpy as np


def arrivals(seed, rate, burstiness, requests):
    random = np.random.RandomState(seed)
    if burstiness == float("inf"):
        gaps = [1.0 / rate] * requests
    else:
        gaps = [random.gamma(shape=burstiness, scale=1.0 / (rate * burstiness)) for _ in range(requests)]
    for i in range(1, requests):
        gaps[i] += gaps[i - 1]
    if gaps[-1] != 0:
        scale = requests / rate / gaps[-1]
        gaps = [g * scale for g in gaps]
    return gaps


CASES = [
    # seed, rate, burstiness, requests, step
    (0, 8.0, 1.0, 40, 1),
    (42, 8.0, 1.0, 160, 1),
    (42, 8.0, 0.3, 40, 1),
    (42, 2.0, 0.5, 40, 1),
    (42, 2.0, 2.0, 40, 1),
    (42, 4.0, 7.5, 40, 1),
    (123456789, 0.25, 1.0, 40, 1),
    (4294967295, 1000.0, 1.0, 40, 1),
    (7, 3.0, 0.05, 40, 1),
    (7, 3.0, 0.999, 40, 1),
    (7, 3.0, 1.001, 40, 1),
    (7, 3.0, 250.0, 40, 1),
    (7, 3.0, float("inf"), 40, 1),
    (1, 5.0, 1.0, 1, 1),
    (0, 20.0, 1.0, 5000, 250),
    (0, 20.0, 0.4, 5000, 250),
    (0, 20.0, 3.0, 5000, 250),
]


def main():
    cases = []
    for seed, rate, burstiness, requests, step in CASES:
        at = arrivals(seed, rate, burstiness, requests)
        kept = [at[i] for i in range(0, requests, step)] + [at[-1]]
        cases.append({
            "seed": seed, "rate": rate, "burstiness": burstiness if burstiness != float("inf") else "inf",
            "requests": requests, "step": step, "at": kept,
        })
    lines = ",\n".join(json.dumps(c) for c in cases)
    print('{"numpy": %s, "cases": [\n%s\n]}' % (json.dumps(np.__version__), lines))


main()
