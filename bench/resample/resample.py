"""Times scipy's bootstrap of the difference of two means on the data that stand on stdin; bench/resample reads the answer.

It is as quick as scipy makes it: one vectorised statistic, resamples in one array.
"""

import json
import sys
import time

import numpy as np
import scipy
from scipy.stats import bootstrap


def difference(base, head, axis):
    return np.mean(head, axis=axis) - np.mean(base, axis=axis)


job = json.load(sys.stdin)
pairs = [(np.array(p["base"]), np.array(p["head"])) for p in job["pairs"]]
seconds = {}
for method in ("percentile", "BCa"):
    rng = np.random.default_rng(1)
    began = time.perf_counter()
    for pair in pairs:
        bootstrap(pair, difference, n_resamples=job["resamples"], vectorized=True, method=method, rng=rng)
    seconds[method] = time.perf_counter() - began
json.dump({
    "versions": f"scipy {scipy.__version__}, numpy {np.__version__}",
    "sum": float(sum(difference(b, h, 0) for b, h in pairs)),
    "seconds": seconds,
}, sys.stdout)
