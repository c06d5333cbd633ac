#!/usr/bin/env python3
"""Group sequential Holm by another way: python3 looks.py > looks.json (numpy, scipy).

A family of m hypotheses is tested at looks with t^2 spending. The rejections come from the graphical procedure (Maurer &
Bretz 2013): every hypothesis holds a weight, at first 1/m; one whose p is at most its level, computed for its weight times
alpha, is rejected and hands its weight in equal parts to those that are left. Levels come from the joint normal
distribution of the looks' statistics, by scipy, not by recursion. A p of null is a hypothesis that ended otherwise: it
keeps its weight. The adjusted p is the least family alpha, on the scale of the level, at which the hypothesis falls.
"""
import functools
import json

import numpy as np
from scipy import optimize, stats


@functools.lru_cache(maxsize=None)
def levels(looks, alpha):
    """One-sided nominal level of each look; at most two earlier looks, so that scipy's integral is exact to 1e-6."""
    t = np.array(looks, float) / looks[-1]
    cov = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    bounds = []
    for k in range(len(looks)):
        spend = alpha * t[k] ** 2

        def crossed(c):
            limits = bounds + [c]
            if len(limits) == 1:
                return stats.norm.sf(c)
            return 1 - stats.multivariate_normal.cdf(limits, np.zeros(k + 1), cov[: k + 1, : k + 1], abseps=1e-8, releps=1e-8,
                                                     rng=np.random.default_rng(1))

        bounds.append(optimize.brentq(lambda c: crossed(c) - spend, 0.5, 8, xtol=1e-9))
    return [float(stats.norm.sf(c)) for c in bounds]


def graph(ps, looks, alpha):
    """Look at which each hypothesis is rejected, from 1; 0 for never."""
    m = len(ps[0])
    weight = dict.fromkeys(range(m), 1 / m)
    rejected = [0] * m
    for k, row in enumerate(ps):
        falling = True
        while falling:
            falling = False
            for i in sorted(weight):
                if row[i] is None or row[i] > levels(looks, round(alpha * weight[i], 15))[k]:
                    continue
                rejected[i] = k + 1
                handed = weight.pop(i)
                for j in weight:
                    weight[j] += handed / len(weight)
                falling = True
                break
    return rejected


def adjusted(ps, looks, alpha):
    """Adjusted p of each hypothesis at each look, null where there was no p; what is rejected keeps the p of that look."""
    m = len(ps[0])
    gone, out = {}, []
    for k, row in enumerate(ps):
        here, least, left = [None] * m, 0.0, m - len(gone)
        for i in sorted((i for i in range(m) if row[i] is not None and i not in gone), key=lambda i: row[i]):
            least = max(least, min(1, row[i] * alpha / levels(looks, round(alpha / left, 15))[k]))
            here[i] = least
            left -= 1
        for i, p in gone.items():
            if row[i] is not None:
                here[i] = p
        gone.update({i: p for i, p in enumerate(here) if p is not None and p <= alpha and i not in gone})
        out.append(here)
    return out


def main():
    rng, alpha, cases = np.random.default_rng(4), 0.025, []
    for n in range(60):
        looks = [(6, 8, 10), (4, 10), (10,)][n % 3]
        m = int(rng.integers(1, 6))
        shift = rng.choice([0, 0, 2, 3.5], m)
        steps = np.diff((0,) + looks)
        walk = np.cumsum(rng.normal(size=(len(looks), m)) * np.sqrt(steps)[:, None], axis=0) / np.sqrt(np.array(looks))[:, None]
        z = walk + shift * np.sqrt(np.array(looks)[:, None] / looks[-1])
        ps = [[float(f"{p:.9e}") for p in row] for row in stats.norm.sf(z)]
        for i in range(m):  # some end otherwise after a look
            if rng.random() < 0.2:
                for k in range(int(rng.integers(1, len(looks) + 1)), len(looks)):
                    ps[k][i] = None
        rejected = graph(ps, looks, alpha)
        parts = {str(k): levels(looks, round(alpha / k, 15)) for k in range(1, m + 1)}
        cases.append({"looks": looks, "levels": parts, "p": ps, "rejected": rejected, "adjusted": adjusted(ps, looks, alpha)})
    print(json.dumps({"about": __doc__.split("\n")[0], "alpha": alpha, "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
