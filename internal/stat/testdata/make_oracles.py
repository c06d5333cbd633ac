#!/usr/bin/env python3
"""Writes oracles.json: answers from NumPy, SciPy and mpmath that the Go code must match.

    python3 -m venv /tmp/oracles && /tmp/oracles/bin/pip install numpy==2.4.6 scipy==1.17.1 mpmath==1.4.1
    /tmp/oracles/bin/python make_oracles.py > oracles.json

The bootstrap here is the textbook one, with the n x n hat matrix; the Go code projects on the columns of the model
instead. Random numbers are SplitMix64 in both, so the two must agree to rounding, not to chance.
"""
import json
import math

import mpmath
import numpy as np
from scipy import stats as st
from scipy.optimize import brentq

mpmath.mp.dps = 40
MASK = (1 << 64) - 1


def splitmix(seed, count, n):
    out = []
    z = seed & MASK
    for _ in range(count):
        z = (z + 0x9E3779B97F4A7C15) & MASK
        x = z
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        x ^= x >> 31
        out.append((x * n) >> 64)
    return np.array(out)


def students():
    """Tails of Student's t to 40 digits, and the quantiles that SciPy finds."""
    tails = []
    for df in (1, 2, 2.5, 3, 4, 5.75, 8, 13, 33.3, 120, 1000, 10000):
        for t in (0, 1e-6, 0.01, 0.5, 1, 2.1, 4, 9, 40, 1e4):
            x = mpmath.mpf(df) / (df + mpmath.mpf(t) ** 2)
            p = mpmath.betainc(mpmath.mpf(df) / 2, 0.5, 0, x, regularized=True) / 2
            if p > 1e-300:
                tails.append({"df": df, "t": t, "p": float(p)})
    quantiles = []
    for df in (1, 2, 2.5, 3, 4, 5.75, 8, 13, 33.3, 120, 1000):
        for q in (0.5, 0.4, 0.2, 0.1, 0.05, 0.025, 0.01, 0.00625, 0.001, 1e-4, 1e-6):
            t = float(st.t.isf(q, df))
            back = mpmath.betainc(mpmath.mpf(df) / 2, 0.5, 0, df / (df + mpmath.mpf(t) ** 2), regularized=True) / 2
            assert abs(back - q) < 1e-11 * q, (df, q)
            quantiles.append({"df": df, "q": q, "t": t})
    return {"tails": tails, "quantiles": quantiles}


def ols(y, x, confidence, floor):
    n, p = x.shape
    g = np.linalg.inv(x.T @ x)
    hat = x @ g @ x.T
    r = y - hat @ y
    d = (g @ x.T @ y)[1]
    s = math.sqrt(r @ r / (n - p))
    root = math.sqrt(g[1, 1])
    se = max(s, floor) * root
    h = st.t.isf((1 - confidence) / 2, n - p) * se
    member = dict(low=d - h, high=d + h, p=st.t.sf(d / se, n - p), less=st.t.cdf(d / se, n - p), se=se, df=n - p)
    return d, s, root, g, hat, r, member


def bootstrap(y, x, confidence, resamples, seed, floor):
    n, p = x.shape
    d, s, root, g, hat, r, _ = ols(y, x, confidence, floor)
    e = r / np.sqrt(1 - np.diag(hat))
    e -= e.mean()
    deals = e[splitmix(seed, resamples * n, n).reshape(resamples, n)]
    ds = deals @ (x @ g[1])
    rest = deals - deals @ hat
    ss = np.sqrt((rest * rest).sum(1) / (n - p))
    assert not ((ss > 1e-12 * s) & (ss < 1e-7 * s)).any()  # either no spread or a clear one
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(ss > 1e-9 * s, ds / (ss * root), np.where(abs(ds) <= 1e-9 * s, 0, np.sign(ds) * np.inf))
    at = d / (s * root)
    p_more = (1 + (t >= at).sum()) / (resamples + 1)
    p_less = (1 + (t <= at).sum()) / (resamples + 1)
    t.sort()
    k = max(1, int((resamples + 1) * (1 - confidence) / 2 + 1e-9))
    se = s * root
    return dict(low=d - t[resamples - k] * se, high=d - t[k - 1] * se, p=p_more, less=p_less)


def welch(b, h, confidence, floor):
    vb, vh = (max(v.var(ddof=1), floor**2) / len(v) for v in (b, h))
    df = (vb + vh) ** 2 / (vb**2 / (len(b) - 1) + vh**2 / (len(h) - 1))
    d, se = h.mean() - b.mean(), math.sqrt(vb + vh)
    w = st.t.isf((1 - confidence) / 2, df) * se
    return dict(low=d - w, high=d + w, p=st.t.sf(d / se, df), less=st.t.cdf(d / se, df), se=se, df=df)


def between(base, head, confidence, floor, day_sd=0.05, day_df=4):
    mb, mh = np.array([x.mean() for x in base]), np.array([x.mean() for x in head])
    kb, kh = len(base), len(head)
    m, n = st.hmean([len(x) for x in base]), st.hmean([len(x) for x in head])
    wdf = sum(len(x) - 1 for x in base + head)
    w = max(sum(((x - x.mean()) ** 2).sum() for x in base + head) / wdf, floor**2)
    k1 = kb + kh - 2
    ss = ((mb - mb.mean()) ** 2).sum() + ((mh - mh.mean()) ** 2).sum()
    day = (ss + day_df * (day_sd**2 + w / m)) / (k1 + day_df)
    a, c = (1 / kb + 1 / kh) * day, max(0, 1 / n - 1 / m) * w / kh
    v = a + c
    df = v * v / (a * a / (k1 + day_df) + c * c / wdf)
    least = w * (1 / (n * kh) + 1 / (m * kb))
    if v < least:
        v, df = least, wdf
    d, se = mh.mean() - mb.mean(), math.sqrt(v)
    h = st.t.isf((1 - confidence) / 2, df) * se
    return d, dict(low=d - h, high=d + h, p=st.t.sf(d / se, df), less=st.t.cdf(d / se, df), se=se, df=df)


def compare(base, head, seed, confidence=0.95, resamples=1999, same=False, order=None, floor=0.005):
    b, h = np.concatenate(base), np.concatenate(head)
    y = np.r_[b, h]
    side = np.r_[np.zeros(len(b)), np.ones(len(h))]
    x = [np.ones(len(y)), side]
    if order is not None:
        x.append(np.concatenate(order[0] + order[1]).astype(float))
    x = np.column_stack(x)
    d, s, *_, t = ols(y, x, confidence, floor)
    members, tees = [t], [t]
    if s >= floor:
        members.append(bootstrap(y, x, confidence, resamples, seed, floor))
    if order is None and max(len(b), len(h)) > 1.5 * min(len(b), len(h)):
        members.append(welch(b, h, confidence, floor))
        tees.append(members[-1])
    delta = d
    if not same:
        delta, across = between(base, head, confidence, floor)
        for i in members:
            i["low"] += delta - d
            i["high"] += delta - d
        members.append(across)
        tees.append(across)
    widest = max(tees, key=lambda i: i["high"] - i["low"])
    return dict(
        delta=delta, low=min(i["low"] for i in members), high=max(i["high"] for i in members),
        p=max(i["p"] for i in members), p_less=max(i["less"] for i in members), se=widest["se"], df=widest["df"], sd=s,
    )


def comparisons():
    rng = np.random.default_rng(20260904)

    def runs(n, sd=0.1, shift=0.0):
        return np.round(rng.normal(shift, sd, n), 4)

    cases = []

    def add(name, base, head, seed, **how):
        case = dict(name=name, base=[x.tolist() for x in base], head=[x.tolist() for x in head], seed=seed)
        case.update({k: v for k, v in how.items() if k != "order"})
        if "order" in how:
            case["order_base"], case["order_head"] = how["order"]
        case["want"] = compare(base, head, seed, **how)
        cases.append(case)

    add("five sessions of five", [runs(5, shift=rng.normal(0, 0.05)) for _ in range(5)], [runs(5, shift=0.15)], 7)
    add("twenty-five and ten", [runs(5) for _ in range(5)], [runs(10)], 99, confidence=0.99)
    add("uneven sessions", [runs(3), runs(8), runs(5)], [runs(4, shift=-0.2)], 3, confidence=0.9)
    add("two head sessions", [runs(5), runs(5), runs(4)], [runs(5, shift=0.1), runs(3, shift=0.2)], 12)
    add("noisy head with few runs", [runs(20, 0.05)], [runs(4, 0.3, 0.2)], 5, same=True)
    add("one campaign, no order", [runs(7)], [runs(7, shift=0.3)], 2**63 + 11, same=True, confidence=0.999)
    o = list(range(20))
    ab = ([o[0::4] + o[3::4]], [o[1::4] + o[2::4]])
    base, head = runs(10), runs(10, shift=0.08)
    base += 0.03 * np.array(ab[0][0])
    head += 0.03 * np.array(ab[1][0])
    add("ten pairs with drift", [base.round(4)], [head.round(4)], 4, same=True, order=ab)
    add("uneven order", [runs(6)], [runs(4, shift=0.1)], 8, same=True, order=([[1, 2, 6, 7, 9, 10]], [[3, 4, 5, 8]]))
    flat = [runs(5, 0.5) for _ in range(10)]
    add("sessions with one mean", [(x - x.mean()).round(4) for x in flat], [runs(5, 0.5)], 21)
    add("one side without spread", [np.zeros(10)], [runs(4, 0.05, 0.1)], 6, same=True)
    add("below the floor", [runs(5, 0.001)], [runs(5, 0.001, 0.02)], 1)
    return cases


def share(met, of, confidence):
    met, of = np.array(met, float), np.array(of, float)
    k, n = len(met), of.sum()
    p, each = met.sum() / n, n / len(met)
    rho = 0.02
    if 0 < p < 1 and k > 1 and each > 1:
        v = k / (k - 1) * ((met - p * of) ** 2).sum() / n**2
        raw = min(1, max(0, (v / (p * (1 - p) / n) - 1) / (each - 1)))
        rho = ((k - 1) * raw + 2 * 0.02) / (k + 1)
    t = st.t.isf((1 - confidence) / 2, k + 1)

    def wilson(p, rho):
        m = n / (1 + (each - 1) * rho)
        # the two roots of (x - p)^2 = t^2 x (1 - x) / m
        lo, hi = sorted(np.roots([1 + t * t / m, -(2 * p + t * t / m), p * p]).real)
        return max(0, lo), min(1, hi)

    low, high = wilson(p, rho)
    return dict(point=p, rho=rho, design_effect=1 + (each - 1) * rho, low=min(low, wilson(1, 0.02)[0]), high=max(high, wilson(0, 0.02)[1]))


def proportions():
    cases = []
    for met, of, confidence in (
        ([50, 61, 38, 70], [60, 70, 50, 72], 0.95), ([1, 0, 0], [40, 40, 40], 0.9), ([499], [500], 0.95), ([1, 1, 0], [1, 1, 1], 0.95),
        ([100, 0, 100, 0], [100, 100, 100, 100], 0.95), ([99, 100, 100, 100, 100], [100] * 5, 0.99),
    ):
        cases.append(dict(met=met, of=of, confidence=confidence, want=share(met, of, confidence)))
    return cases


def grid_levels(looks, alpha, step=0.005, reach=8.0):
    """Rectangle rule on a fixed grid, the tail counted with its whole first cell: how the published table was made."""
    t = np.array(looks) / looks[-1]
    z = np.arange(-round(reach / step), round(reach / step) + 1) * step
    out, spent, g = [], 0.0, None
    for k, share_seen in enumerate(t):
        spend = alpha * share_seen**2 - spent
        spent += spend
        if k == 0:
            c, g = st.norm.isf(spend), st.norm.pdf(z)
        else:
            r = math.sqrt(t[k - 1] / share_seen)
            s = math.sqrt(1 - r * r)
            alive = np.nonzero(g)[0]
            nxt = np.zeros(len(z))
            for lo in range(0, len(z), 400):
                rows = z[lo:lo + 400, None] - r * z[None, alive]
                nxt[lo:lo + 400] = np.exp(-0.5 * (rows / s) ** 2) @ g[alive]
            g = nxt * step / (s * math.sqrt(2 * math.pi))
            tail = np.cumsum(g[::-1])[::-1] * step
            c = np.interp(-spend, -tail, z)
        out.append(float(st.norm.sf(c)))
        g = np.where(z < c, g, 0)
    return out


def exact_levels(looks, alpha):
    """The same recursion by 400-point Gauss-Legendre quadrature."""
    x, w = np.polynomial.legendre.leggauss(400)
    t = np.array(looks) / looks[-1]
    out, spent, z, mass = [], 0.0, None, None
    for k, share_seen in enumerate(t):
        spend = alpha * share_seen**2 - spent
        spent += spend
        if k == 0:
            c, density = st.norm.isf(spend), st.norm.pdf
        else:
            r = math.sqrt(t[k - 1] / share_seen)
            s = math.sqrt(1 - r * r)
            c = brentq(lambda c: (mass * st.norm.sf((c - r * z) / s)).sum() - spend, -2, 9, xtol=1e-13)
            density = lambda u, z=z, mass=mass, r=r, s=s: (mass * st.norm.pdf((u[:, None] - r * z) / s) / s).sum(1)
        out.append(float(st.norm.sf(c)))
        half = (c + 9) / 2
        u = half * x + (c - 9) / 2
        z, mass = u, half * w * density(u)
    return out


def levels():
    cases = []
    for looks in ([10], [6, 8, 10], [4, 6, 8, 10], [2, 4, 6, 8, 10, 12], [4, 8, 20], [18, 20], [95, 98, 100]):
        for alpha in (0.025, 0.0125, 0.025 / 12, 1e-4):
            cases.append(dict(looks=looks, alpha=alpha, grid=grid_levels(looks, alpha), exact=exact_levels(looks, alpha)))
    return cases


def detectable():
    cases = []
    for n, sd in ((3, 0.1), (5, 0.125), (10, 0.17), (20, 0.27)):
        se, df = sd * math.sqrt(2 / n), 2 * n - 2
        for confidence, power in ((0.95, 0.8), (0.99, 0.9), (0.95, 0.5)):
            cases.append(dict(se=se, df=df, confidence=confidence, power=power, want=se * (st.t.isf((1 - confidence) / 2, df) + st.t.ppf(power, df))))
    return cases


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, np.generic):
        return x.item()
    return x


def lines(x):
    """JSON with one case a line."""
    rows = []
    for key, value in x.items():
        if isinstance(value, dict):
            rows.append(f'"{key}": {{\n' + ",\n".join(f'"{k}": [\n' + ",\n".join(map(json.dumps, v)) + "\n]" for k, v in value.items()) + "\n}")
        else:
            rows.append(f'"{key}": [\n' + ",\n".join(map(json.dumps, value)) + "\n]")
    return "{\n" + ",\n".join(rows) + "\n}"


if __name__ == "__main__":
    print(lines(plain(dict(
        student=students(), comparisons=comparisons(), proportions=proportions(), levels=levels(), detectable=detectable(),
    ))))
