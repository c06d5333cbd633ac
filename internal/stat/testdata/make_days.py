#!/usr/bin/env python3
"""Writes days.json: the session model, spelled out sum by sum, with SciPy's t and F.

    python3 -m venv /tmp/oracles && /tmp/oracles/bin/pip install numpy==2.4.6 scipy==1.17.1
    /tmp/oracles/bin/python make_days.py > days.json
"""
import json
import math

import numpy as np
from scipy import stats as st

NU0 = 4


def expect(base, n, head, day_sd, more, floor=0.005):
    """Variance of a session's mean, its prior, and (se, df) with so many more base sessions."""
    k = len(base)
    m = k / sum(1 / len(s) for s in base)
    free = sum(len(s) - 1 for s in base) + (len(head) - 1 if head else 0)
    within = sum(float(np.var(s)) * len(s) for s in base) + (float(np.var(head)) * len(head) if head else 0)
    w = max(within / free, floor**2) if free > 0 else floor**2
    means = [float(np.mean(s)) for s in base]
    between = float(np.var(means)) * k
    prior = day_sd**2 + w / m
    s2 = (between + NU0 * prior) / (k - 1 + NU0)
    kk = k + more
    a = (1 + 1 / kk) * s2
    c = max(0.0, (1 / n - 1 / m) * w)
    v = a + c
    df = v * v / (a * a / (k - 1 + more + NU0) + (c * c / free if c > 0 else 0))
    least = w * (1 / n + 1 / (kk * m))
    if v < least and free > 0:
        v, df = least, free
    return {"w": w, "m": m, "free": free, "means": means, "between": between, "prior": prior, "s2": s2, "se": math.sqrt(v), "df": df}


def case(base, head, runs, day_sd, level):
    n = len(head) if head else runs
    out = {"base": base, "head": head, "runs": runs, "day_sd": day_sd, "level": level, "after": []}
    for more in (0, 1, 5):
        e = expect(base, n, head, day_sd, more)
        out["after"].append({"more": more, "se": e["se"], "df": e["df"]})
    e = expect(base, n, head, day_sd, 0)
    k = len(base)
    out["sd"] = math.sqrt(max(0.0, e["s2"] - e["w"] / e["m"]))
    out["run_sd"] = math.sqrt(e["w"])
    out["means"] = e["means"]
    if k > 1:
        ratio = e["between"] / (k - 1) / e["prior"]
        out["seen"] = math.sqrt(max(0.0, e["between"] / (k - 1) - e["w"] / e["m"]))
        out["p"] = float(st.f.sf(ratio, k - 1, min(e["free"], 1e4) or 1e4))
    for name, share in (("kept", 1 - 1 / k), ("gone", 1 + 1 / k)):
        delta = float(np.mean(e["means"])) - level
        half = float(st.t.ppf(0.975, k - 1 + NU0)) * math.sqrt(share * e["s2"])
        out[name] = [delta, delta - half, delta + half]
    return out


def main():
    rng = np.random.default_rng(20261130)
    cases = []
    for k, m, n, run_sd, day, day_sd in [
        (1, 30, 5, 0.125, 0.05, 0.05), (2, 5, 5, 0.125, 0.05, 0.05), (5, 5, 5, 0.125, 0.03, 0.05), (5, 5, 3, 0.05, 0.2, 0.05),
        (10, 5, 5, 0.125, 0.1, 0.05), (10, 1, 5, 0.125, 0.05, 0.05), (3, 10, 5, 0.002, 0.0, 0.02), (4, 5, 12, 0.2, 0.0, 0.1),
    ]:
        base = [[round(float(x), 6) for x in rng.normal(rng.normal(0, day) - 1, run_sd, m + (i % 2 if m > 1 else 0))] for i in range(k)]
        head = [round(float(x), 6) for x in rng.normal(-1, run_sd, n)]
        cases.append(case(base, head, 0, day_sd, round(base[0][0], 3)))
        cases.append(case(base, None, n, day_sd, -1.1))
    json.dump(cases, __import__("sys").stdout, indent=1)
    print()


main()
