"""Writes condense.json: passes of requests, and what NumPy says about them.

Run: python3 condense.py > condense.json     (numpy 2.4.6)
Each request lists what a client saw; the statistics are worked out here from those times alone.
"""
import json
import numpy as np

STATISTICS = {
    "mean": np.mean,
    "gmean": lambda x: np.exp(np.mean(np.log(x))),
    "p50": lambda x: np.percentile(x, 50),
    "p75": lambda x: np.percentile(x, 75),
    "p90": lambda x: np.percentile(x, 90),
    "p95": lambda x: np.percentile(x, 95),
    "p99": lambda x: np.percentile(x, 99),
    "p12.5": lambda x: np.percentile(x, 12.5),
    "p99.9": lambda x: np.percentile(x, 99.9),
}
FAILURES = ["reset", "http_5xx", "empty", "truncated"]


def request(rng, i, n, failed):
    scheduled = round(float(i * 0.125), 9)
    sent = round(scheduled + float(rng.exponential(0.004)), 9)
    first = round(sent + float(rng.gamma(4, 0.02)), 9)
    gaps = [round(float(g), 9) for g in rng.gamma(2, 0.01, size=n - 1)]
    last = round(first + sum(gaps), 9)
    r = {
        "i": i, "scheduled": scheduled, "sent": sent, "headers": round(sent + 0.001, 9), "first_token": first,
        "first_answer": first if n == 1 else round(first + gaps[0], 9), "last_token": last, "end": round(last + 0.3, 9),
        "chunks": n, "input_tokens": int(rng.randint(16, 64)), "output_tokens": n, "token_source": "usage",
        "finish": "length", "class": "ok", "status": 200,
    }
    if gaps:
        r["gaps"] = gaps
    if failed is not None:
        # Mid-stream failures leave real times behind: nothing of them may enter a latency.
        r.update({"class": FAILURES[failed % len(FAILURES)], "error": "no %d" % failed})
    return r


def expect(requests, duration, slo):
    ok = [r for r in requests if r["class"] == "ok"]
    samples = {
        "ttft": [r["first_token"] - r["sent"] for r in ok],
        "ttfot": [r["first_answer"] - r["sent"] for r in ok],
        "tpot": [(r["last_token"] - r["first_token"]) / (r["output_tokens"] - 1) for r in ok if r["output_tokens"] > 1],
        "icl": [g for r in ok for g in r.get("gaps", [])],
        "e2el": [r["last_token"] - r["sent"] for r in ok],
        "queue": [r["sent"] - r["scheduled"] for r in ok],
        "ttft_sched": [r["first_token"] - r["scheduled"] for r in ok],
        "e2el_sched": [r["last_token"] - r["scheduled"] for r in ok],
    }
    metrics = {}
    for name, values in samples.items():
        for statistic, f in STATISTICS.items():
            if values:
                metrics[name + "." + statistic] = float(f(np.array(values)))
    good = sum(
        1 for r in ok
        if r["first_token"] - r["sent"] <= slo["ttft"]
        and (r["output_tokens"] < 2 or (r["last_token"] - r["first_token"]) / (r["output_tokens"] - 1) <= slo["tpot"])
    )
    metrics["error.ratio"] = (len(requests) - len(ok)) / len(requests)
    metrics["goodput.ratio"] = good / len(requests)
    if ok:
        metrics["request.rate"] = len(ok) / duration
        metrics["output.rate"] = sum(r["output_tokens"] for r in ok) / duration
    if good:
        metrics["goodput.rate"] = good / duration
    return {"sent": len(requests), "ok": len(ok), "good": good, "metrics": metrics}


def case(name, seed, n, failed_every, tokens):
    rng = np.random.RandomState(seed)
    requests = []
    for i in range(n):
        failed = i if failed_every and i % failed_every == 0 else None
        requests.append(request(rng, i, tokens(i), failed))
    duration = round(max(r["end"] for r in requests), 9)
    slo = {"ttft": 0.1, "tpot": 0.022}
    return {"name": name, "duration": duration, "slo": slo, "requests": requests, "want": expect(requests, duration, slo)}


cases = [
    case("one request", 1, 1, 0, lambda i: 5),
    case("one token each", 2, 6, 0, lambda i: 1),
    case("a third fails", 3, 21, 3, lambda i: 2 + i % 7),
    case("all fail", 4, 5, 1, lambda i: 4),
    case("sixty, mixed lengths", 5, 60, 17, lambda i: 1 + i % 6),
]
print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
