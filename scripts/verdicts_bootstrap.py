"""Percentile bootstrap of the ratio of geometric means, by scipy.stats.bootstrap.

Each line on stdin is one comparison: {"seed": N, "base": [...], "head": [...]}, the logarithms of one number a run.
Each line on stdout is its 95 % interval on the logarithm: [low, high]. A true change of the candidate moves the interval
by its logarithm and changes nothing else, so one interval serves every effect.
"""

import json
import sys

import numpy
import scipy
from scipy.stats import bootstrap

RESAMPLES = 1999


def difference(head, base, axis):
    return head.mean(axis=axis) - base.mean(axis=axis)


def main():
    print(json.dumps({"scipy": scipy.__version__, "resamples": RESAMPLES}), flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        interval = bootstrap(
            (numpy.array(case["head"]), numpy.array(case["base"])),
            difference,
            n_resamples=RESAMPLES,
            vectorized=True,
            method="percentile",
            rng=numpy.random.default_rng(case["seed"]),
        ).confidence_interval
        print(json.dumps([interval.low, interval.high]), flush=True)


if __name__ == "__main__":
    main()
