#!/usr/bin/env python3
"""Writes oracles.json: answers from NumPy and SciPy that the Go code must match.

    python3 -m venv /tmp/oracles && /tmp/oracles/bin/pip install numpy==2.4.6 scipy==1.17.1
    /tmp/oracles/bin/python make_oracles.py > oracles.json

The random numbers of the resampling are SplitMix64 in both, so the two must agree to rounding, not to chance.
"""
import json

import numpy as np
from scipy import stats as st

MASK = (1 << 64) - 1


def splitmix(seed):
    z = seed & MASK
    while True:
        z = (z + 0x9E3779B97F4A7C15) & MASK
        x = z
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        yield x ^ (x >> 31)


def spread(levels):
    """sd with its chi-squared interval; line through the runs; first run against a t prediction interval of the others."""
    y = np.array(levels)
    n = len(y)
    sd = y.std(ddof=1)
    fit = st.linregress(np.arange(n), y)
    rest = y[1:]
    return {
        "levels": levels,
        "sd": sd,
        "sd_low": sd / np.sqrt(st.chi2.ppf(0.975, n - 1) / (n - 1)),
        "sd_high": sd / np.sqrt(st.chi2.ppf(0.025, n - 1) / (n - 1)),
        "steady": np.sqrt(((y - fit.intercept - fit.slope * np.arange(n)) ** 2).sum() / (n - 2)),
        "order": fit.slope * (n - 1),
        "order_half": fit.stderr * (n - 1) * st.t.ppf(0.995, n - 2),
        "first": y[0] - rest.mean(),
        "first_half": rest.std(ddof=1) * np.sqrt(1 + 1 / (n - 1)) * st.t.ppf(0.995, n - 2),
    }


def chance(x, q, seed, b=500):
    """x[prompt, run] are logarithms. Two-way residuals, resampled within each prompt."""
    mu = x.mean(axis=1)
    e = x - mu[:, None]
    e = e - e.mean(axis=0)[None, :]
    n, r = x.shape
    e = e * np.sqrt(n / (n - 1) * r / (r - 1))
    gen = splitmix(seed)
    ys = []
    for _ in range(b):
        pick = [(next(gen) * r) >> 64 for _ in range(n)]
        run = np.exp(mu + e[np.arange(n), pick])
        ys.append(np.log(run.mean() if q is None else np.quantile(run, q)))
    return float(np.std(ys, ddof=1))


def reach(runs, base, sessions, interleaved, sd, day, confidence, power):
    """Smallest detectable change on the log scale, written out from the model."""
    m, n = base or runs, runs
    if sessions:
        day2 = day**2 + sd**2 / m
        a = (1 + 1 / sessions) * day2
        c = max(0.0, (1 / n - 1 / m) * sd**2)
        v = a + c
        df = v**2 / (a**2 / (sessions - 1 + 4) + c**2 / (sessions * (m - 1) + n - 1))
    else:
        v, df = sd**2 * (1 / n + 1 / m), n + m - 2 - interleaved
    return float(np.sqrt(v) * (st.t.ppf((1 + confidence) / 2, df) + st.t.ppf(power, df)))


rng = np.random.default_rng(20261130)
samples = [
    [0.0, 0.1, 0.05, -0.02],
    rng.normal(-1, 0.05, 12).round(6).tolist(),
    (rng.normal(0, 0.03, 12) + np.linspace(0, 0.3, 12)).round(6).tolist(),
    [0.4] + rng.normal(0, 0.04, 11).round(6).tolist(),
    rng.normal(3, 0.2, 25).round(6).tolist(),
]
tables = []
for prompts, runs in [(40, 12), (12, 5)]:
    x = rng.normal(-2, 0.45, (prompts, 1)) + rng.normal(0, 0.2, (prompts, runs)) + rng.normal(0, 0.1, (1, runs))
    x = x.round(6)
    for name, q in [("ttft.p95", 0.95), ("ttft.p50", 0.5), ("ttft.mean", None)]:
        tables.append({"metric": name, "logs": x.tolist(), "seed": 7, "sd": chance(x, q, 7)})
designs = []
for sd in [0.03, 0.1, 0.25]:
    for runs, base, sessions, turns, level in [
        (3, 0, 0, 0, 0.025), (5, 0, 0, 0, 0.025), (20, 0, 0, 0, 0.025), (10, 0, 0, 1, 0.01747), (6, 0, 0, 1, 0.009),
        (5, 0, 1, 0, 0.025), (5, 0, 5, 0, 0.025), (5, 0, 10, 0, 0.025), (5, 12, 3, 0, 0.025),
    ]:
        for day in [0.05, 0.1]:
            designs.append({
                "runs": runs, "base": base, "sessions": sessions, "interleaved": bool(turns), "sd": sd, "day_sd": day,
                "confidence": 1 - 2 * level, "power": 0.8,
                "reach": reach(runs, base, sessions, turns, sd, day, 1 - 2 * level, 0.8),
            })
gen = splitmix(7)
json.dump({
    "splitmix": [str(next(gen)) for _ in range(5)],
    "spreads": [spread(s) for s in samples], "chances": tables, "designs": designs,
}, fp=__import__("sys").stdout, indent=1)
print()
