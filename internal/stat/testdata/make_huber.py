#!/usr/bin/env python3
"""Writes huber.json: answers from NumPy and SciPy for comparisons by Huber's estimate that the Go code must match.

    python3 -m venv /tmp/oracles && /tmp/oracles/bin/pip install numpy==2.4.6 scipy==1.17.1
    /tmp/oracles/bin/python make_huber.py > huber.json

The fit here solves the weighted normal equations of the whole design matrix until nothing moves, and the bounds are roots
found by Brent's method; the Go code takes levels and slope one by one, in a fixed number of passes, and halves intervals.
Random numbers are SplitMix64 in both, so the two must agree to rounding, not to chance.
"""
import json

import numpy as np
from scipy import stats as st
from scipy.optimize import brentq

MASK = (1 << 64) - 1


def splitmix(seed):
    z = seed & MASK
    while True:
        z = (z + 0x9E3779B97F4A7C15) & MASK
        x = z
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        yield x ^ (x >> 31)


def deals(e, seed, count, drawn):
    """Each row is a shuffle of the row before, of which the first places are drawn."""
    draw, e, n = splitmix(seed), list(e), len(e)
    out = np.empty((count, n))
    for b in range(count):
        for i in range(drawn):
            k = i + ((next(draw) * (n - i)) >> 64)
            e[i], e[k] = e[k], e[i]
        out[b] = e
    return out


def start(y, x):
    """Medians of the sides around the median slope within sides."""
    side, n = x[:, 1], len(y)
    b = np.zeros(x.shape[1])
    if len(b) == 3:
        o = x[:, 2]
        b[2] = np.median([(y[i] - y[j]) / (o[i] - o[j]) for i in range(n) for j in range(i)
                          if side[i] == side[j] and o[i] != o[j]])
        y = y - b[2] * o
    b[0] = np.median(y[side == 0])
    b[1] = np.median(y[side == 1]) - b[0]
    return b


def fit(y, x, k=1.5):
    n, p = x.shape
    b = start(y, x)
    for _ in range(4000):
        r = y - x @ b
        s = 1.4826 * np.median(abs(r)) * np.sqrt(n / (n - p))
        w = np.minimum(1, k * s / np.maximum(abs(r), 1e-300))
        new = np.linalg.solve(x.T @ (x * w[:, None]), x.T @ (w * y))
        if (abs(new - b) <= 1e-15 * abs(b)).all():
            break
        b = new
    r = y - x @ b
    return b[1], r, k * 1.4826 * np.median(abs(r)) * np.sqrt(n / (n - p))


def compare(base, head, seed, confidence=0.95, resamples=1999, order=None, floor=0.005):
    y = np.r_[base, head]
    n, nb = len(y), len(base)
    side = np.r_[np.zeros(nb), np.ones(n - nb)]
    x = [np.ones(n), side]
    if order is not None:
        o = np.r_[order[0], order[1]].astype(float)
        x.append(o - o.mean())
    x = np.column_stack(x)
    p, level = x.shape[1], (1 - confidence) / 2
    df = n - p
    delta, r, bound = fit(y, x)
    outside = int((abs(r) > bound).sum())
    left = max(1, df - outside)
    others = np.delete(x, 1, axis=1)
    tilt = side - others @ np.linalg.lstsq(others, side, rcond=None)[0]
    g = np.linalg.inv(x.T @ x)
    hat = x @ g @ x.T

    def statistic(v):
        rest = v - v @ hat
        return v @ (x @ g[1]) / np.sqrt((rest * rest).sum(-1) / df * g[1, 1])

    def cut(by):
        return np.clip(r + by * tilt, -bound, bound)

    def welch(by):
        v = cut(by)
        a, c = (max(z.var(ddof=1), floor**2) / len(z) for z in (v[:nb], v[nb:]))
        wdf = (a + c) ** 2 / (a * a / (nb - 1) + c * c / (n - nb - 1))
        return (v[nb:].mean() - v[:nb].mean()) / np.sqrt(a + c), wdf, np.sqrt(a + c)

    t = np.sort(statistic(deals(cut(0), seed, resamples, nb if order is None else n - 1)))
    uneven = order is None and 2 * nb != n
    critical = st.t.isf(level, left)
    stricter = st.t.sf(critical, df) if outside else level
    k = max(1, int((resamples + 1) * stricter + 1e-9))

    def end(sign, c):
        c = max(c, critical)
        grid = np.linspace(0, 40 * bound, 4001)[1:]
        first = next(u for u in grid if sign * statistic(cut(sign * u)) > c)
        root = brentq(lambda u: sign * statistic(cut(sign * u)) - c, first - grid[0], first, xtol=1e-14)
        if uneven:
            def excess(u):
                z, wdf, _ = welch(sign * u)
                return sign * z - st.t.isf(level, wdf)
            first = next(u for u in grid if excess(u) > 0)
            root = max(root, brentq(excess, first - grid[0], first, xtol=1e-14))
        return root

    low, high = delta - end(1, t[resamples - k]), delta + end(-1, -t[k - 1])

    def weaker(q):
        return q if outside == 0 or q >= 0.5 else st.t.sf(st.t.isf(q, df), left)

    at = statistic(cut(delta))
    ps = [[weaker((1 + (t >= at - 1e-10).sum()) / (resamples + 1)), st.t.sf(at, left)],
          [weaker((1 + (t <= at + 1e-10).sum()) / (resamples + 1)), st.t.cdf(at, left)]]
    se, use = None, left
    v = cut(0)
    rest = v - hat @ v
    se = np.sqrt(rest @ rest / df * g[1, 1])
    if uneven:
        z, wdf, _ = welch(delta)
        ps[0].append(st.t.sf(z, wdf))
        ps[1].append(st.t.cdf(z, wdf))
        _, wdf, wse = welch(0)
        if wse * st.t.isf(level, wdf) > se * critical:
            se, use = wse, wdf
    se *= (tilt**2).sum() / (tilt**2)[abs(r) <= bound].sum()
    return dict(delta=delta, low=low, high=high, p=max(ps[0]), p_less=max(ps[1]), se=se, df=use, outside=outside)


def main():
    rng = np.random.default_rng(20260905)
    cases = []

    def runs(n, sd=0.1, shift=0.0, slow=()):
        y = rng.normal(shift, sd, n)
        for i in slow:
            y[i] += 0.45
        return y

    def add(name, base, head, seed, **how):
        base, head = base.round(4), head.round(4)
        case = dict(name=name, base=base.tolist(), head=head.tolist(), seed=seed, confidence=how.get("confidence", 0.95))
        if "order" in how:
            case["order_base"], case["order_head"] = [list(map(int, o)) for o in how["order"]]
        case["want"] = compare(base, head, seed, **how)
        cases.append(case)

    def turns(n):
        o = np.arange(2 * n)
        return np.sort(np.r_[o[0::4], o[3::4]]), np.sort(np.r_[o[1::4], o[2::4]])

    add("six and six, nothing far out", runs(6), runs(6, shift=0.15), 1)
    add("eight and eight, a slow run in each", runs(8, 0.05, slow=[2]), runs(8, 0.05, 0.18, slow=[5]), 2)
    add("two slow runs of the head", runs(10, 0.05), runs(10, 0.05, slow=[0, 9]), 3)
    add("ten and six", runs(10, 0.05, slow=[4]), runs(6, 0.1, 0.2), 4)
    add("twenty and eight, a noisy head", runs(20, 0.05), runs(8, 0.2, 0.25), 2**63 + 5, confidence=0.99)
    add("fifteen and five", runs(15, 0.05, slow=[3, 8]), runs(5, 0.07, 0.15), 44)
    add("seven and eight, high confidence", runs(7), runs(8, shift=-0.3), 6, confidence=0.997)
    for n, slow in ((6, [1]), (8, [3, 4]), (10, [])):
        o = turns(n)
        base, head = runs(n, 0.06, slow=slow) + 0.02 * o[0], runs(n, 0.06, 0.15) + 0.02 * o[1]
        add(f"{n} pairs in turn, {len(slow)} slow", base, head, 10 + n, order=o)
    add("uneven order", runs(8), runs(6, shift=0.1), 8, order=([1, 2, 6, 7, 9, 10, 13, 14], [3, 4, 5, 8, 11, 12]), confidence=0.98)
    print(json.dumps({"about": "Written by make_huber.py.", "comparisons": cases}, indent=1))


main()
