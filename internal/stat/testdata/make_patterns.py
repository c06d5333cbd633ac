#!/usr/bin/env python3
"""Writes patterns.json: what NumPy, SciPy and scikit-posthocs say about patterns in runs.

    python3 -m venv /tmp/patterns && /tmp/patterns/bin/pip install numpy==2.4.6 scipy==1.17.1 scikit-posthocs==0.17.1
    /tmp/patterns/bin/python make_patterns.py > patterns.json

"modes" has the share of the sum of squares left within two groups, by trying every split of the runs, sorted or not;
"limits" the share that runs of one mode undercut once in fifty; "first" a least-squares fit with one level a session;
"outlying" the generalised ESD test of scikit-posthocs.
"""
import itertools
import json

import numpy as np
from scipy import stats as st
from scikit_posthocs import outliers_gesd

LEVEL = 0.02  # of both tests of runs; the first run of a session is tested at 1 %
ONE_MODE = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
}


def within(runs):
    """Share of the sum of squares within the best two groups, each of more than a quarter of the runs."""
    x = np.array(runs)
    n = len(x)
    least = n // 4 + 1
    best = np.inf
    for k in range(least, n - least + 1):
        for group in itertools.combinations(range(n), k):
            a = x[list(group)]
            b = np.delete(x, list(group))
            best = min(best, ((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    return best / ((x - x.mean()) ** 2).sum()


def shares(x):
    """The same for many samples at once: the best groups are neighbours in order."""
    x = np.sort(x, axis=1)
    x -= x.mean(axis=1, keepdims=True)
    n = x.shape[1]
    least = n // 4 + 1
    total = (x**2).sum(axis=1)
    sums = np.cumsum(x, axis=1)
    between = np.zeros(len(x))
    for k in range(least, n - least + 1):
        between = np.maximum(between, sums[:, k - 1] ** 2 * (1 / k + 1 / (n - k)))
    return 1 - between / total


def limits():
    rng = np.random.default_rng(20260901)
    out = []
    for n in [*range(8, 31), 40, 60]:
        m = 400_000 if n <= 30 else 100_000
        out.append({"n": n, "share": min(float(np.quantile(shares(draw(rng, (m, n))), LEVEL)) for draw in ONE_MODE.values())})
    return out


def modes():
    rng = np.random.default_rng(1)
    out = []
    for n in (8, 9, 10, 12):
        for apart in (0, 4, 9):
            x = rng.normal(size=n) + apart * (rng.random(n) < 0.5)
            out.append({"runs": x.tolist(), "share": float(within(x))})
    out.append({"runs": [1, 1, 1, 2, 2, 2, 2, 3], "share": float(within([1, 1, 1, 2, 2, 2, 2, 3]))})
    return out


def first():
    rng = np.random.default_rng(2)
    out = []
    for sizes in ([5], [3], [12], [5, 5, 5], [2, 2, 2], [1, 4, 3], [3, 8]):
        for slow in (0, 0.1, 0.5):
            sessions = [(rng.normal(0, 0.1) + rng.normal(0, 0.06, m)).tolist() for m in sizes]
            for s in sessions:
                s[0] += slow
            y = np.concatenate(sessions)
            x = np.zeros((len(y), len(sizes) + 1))
            row = 0
            for i, m in enumerate(sizes):
                x[row : row + m, i] = 1
                if m > 1:
                    x[row, -1] = 1
                row += m
            b, *_ = np.linalg.lstsq(x, y, rcond=None)
            df = len(y) - x.shape[1]
            if sizes[0] == 1:
                y, x = y[1:], x[1:, 1:]
                b, *_ = np.linalg.lstsq(x, y, rcond=None)
                df = len(y) - x.shape[1]
            s2 = ((y - x @ b) ** 2).sum() / df
            se = np.sqrt(s2 * np.linalg.inv(x.T @ x)[-1, -1])
            out.append({"sessions": sessions, "excess": float(b[-1]), "slow": bool(st.t.sf(b[-1] / se, df) < 0.01)})
    return out


def outlying():
    rng = np.random.default_rng(3)
    out = []
    for n in (4, 5, 6, 8, 10, 15, 25):
        for extra in ([], [0.47], [0.47, 0.4], [-0.6]):
            x = rng.normal(0, 0.05, n)
            x[: len(extra)] += extra
            x = rng.permutation(x)
            hit = outliers_gesd(x, outliers=max(1, n // 4), alpha=LEVEL, hypo=True)
            out.append({"runs": x.tolist(), "outlying": [int(i) for i in np.flatnonzero(hit)]})
    return out


print(json.dumps({"limits": limits(), "modes": modes(), "first": first(), "outlying": outlying()}, indent=1))
