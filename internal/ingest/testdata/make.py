"""Writes testdata/vllm/*: result files as vllm bench serve writes them, from requests that are drawn here.

Run: python3 make.py     (numpy 2.4.6)
The keys, their order and their units are those of vLLM 0.33; the statistics are NumPy's, worked out here from the requests.
old.json has the keys of a result of May 2025. Bare NaN and Infinity are what Python's json.dump writes.
"""
import json
import os
import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vllm")
TRACEBACK = 'Traceback (most recent call last):\n  File "endpoint_request_func.py", line 300, in fetch\naiohttp.client_exceptions.ClientPayloadError: Response payload is not completed: <TransferEncodingError: 400>'


def draw(seed, n, failures=(), tokens=lambda i: 2 + i % 6):
    """Requests as a client saw them; failures maps an index to (error text, broke in mid-stream)."""
    rng = np.random.RandomState(seed)
    failures = dict(failures)
    start = 813204.25
    out = []
    for i in range(n):
        start += float(rng.exponential(0.12))
        count = tokens(i)
        ttft = float(rng.gamma(9, 0.009))
        itl = [float(g) for g in rng.gamma(20, 0.001, size=count - 1)]
        r = dict(start=start, queue=float(rng.exponential(0.0004)), ttft=ttft, itl=itl, latency=ttft + sum(itl),
                 prompt=int(rng.randint(20, 40)), output=count, error="", text="token " * count)
        if i in failures:
            error, mid_stream = failures[i]
            r.update(error=error, output=0, text="")
            if not mid_stream:
                r.update(ttft=0.0, itl=[], latency=0.0)
        out.append(r)
    return out


def statistics(name, values, percentiles, into):
    values = values or 0
    into["mean_%s_ms" % name] = float(np.mean(values) * 1000)
    into["median_%s_ms" % name] = float(np.median(values) * 1000)
    into["std_%s_ms" % name] = float(np.std(values) * 1000)
    for p in percentiles:
        word = str(int(p)) if int(p) == p else str(p)
        into["p%s_%s_ms" % (word, name)] = float(np.percentile(values, p) * 1000)


def peaks(ok):
    """Most chunks that came in one second, and most requests under way in one, the last second of each included."""
    if not ok:
        return 0.0, 0
    first = min(r["start"] for r in ok)
    came, under = {}, {}
    for r in ok:
        for t in r["start"] + r["ttft"] + np.concatenate([[0.0], np.cumsum(r["itl"])]):
            came[int(t - first)] = came.get(int(t - first), 0) + 1
        for second in range(int(r["start"] - first), int(r["start"] + r["latency"] - first) + 1):
            under[second] = under.get(second, 0) + 1
    return float(max(came.values())), max(under.values())


def result(requests, date, rate=8.0, burstiness=1.0, concurrency=None, detailed=False, percentiles=(99,),
           names=("ttft", "tpot", "itl"), goodput=None, metadata=(), num_prompts=None):
    ok = [r for r in requests if not r["error"]]
    duration = max(r["start"] + r["latency"] for r in requests) - requests[0]["start"] + 0.05
    out = sum(r["output"] for r in requests)
    into = {"date": date, "endpoint_type": "openai-chat", "backend": "openai-chat", "label": None,
            "model_id": "Qwen/Qwen3-8B", "tokenizer_id": "Qwen/Qwen3-8B", "num_prompts": num_prompts or len(requests)}
    into.update(metadata)
    into.update({"request_rate": rate, "burstiness": burstiness, "max_concurrency": concurrency, "duration": duration,
                 "completed": len(ok), "failed": len(requests) - len(ok), "total_input_tokens": sum(r["prompt"] for r in ok),
                 "total_output_tokens": out, "request_throughput": len(ok) / duration,
                 "request_goodput": None if goodput is None else goodput / duration, "output_throughput": out / duration,
                 "total_token_throughput": (out + sum(r["prompt"] for r in ok)) / duration})
    if detailed:
        into["input_lens"] = [r["prompt"] for r in requests]
        into["output_lens"] = [r["output"] for r in requests]
        into["ttfts"] = [r["ttft"] for r in requests]
        into["itls"] = [r["itl"] for r in requests]
    into["latencies"] = [r["latency"] for r in requests]
    if detailed:
        into["start_times"] = [r["start"] for r in requests]
    into["queue_times"] = [r["queue"] for r in requests]
    if detailed:
        into["generated_texts"] = [r["text"] for r in requests]
        into["errors"] = [r["error"] for r in requests]
    chunks, running = peaks(ok)
    into.update({"max_output_tokens_per_s": chunks, "max_concurrent_requests": running, "rtfx": 0.0})
    values = {
        "ttft": [r["ttft"] for r in ok],
        "tpot": [(r["latency"] - r["ttft"]) / (r["output"] - 1) for r in ok if r["output"] > 1],
        "itl": [g for r in ok for g in r["itl"]],
        "e2el": [r["latency"] for r in ok],
        "client_queue_time": [r["queue"] for r in ok],
        "e2el_including_client_queue": [r["latency"] + r["queue"] for r in ok],
    }
    for name in names:
        statistics(name, values[name], percentiles, into)
    return into


def write(name, *results):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as f:
        f.write("\n".join(json.dumps(r) for r in results))


os.makedirs(HERE, exist_ok=True)
EVERY = (50, 75, 90, 95, 99, 99.9)
ALL = ("ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue")
FAILURES = {7: ("Service Unavailable", False), 23: (TRACEBACK, True)}
some = draw(1, 64, {7: FAILURES[7], 23: FAILURES[23]})
write("default.json", result(draw(2, 60), "20260901-101500", burstiness=float("inf"), metadata={"git_sha": "abc123", "engine": "vllm"}))
write("detailed.json", result(some, "20260901-102000", detailed=True, goodput=40))
write("detailed_every_statistic.json", result(some, "20260901-102000", detailed=True, percentiles=EVERY, names=ALL, concurrency=8))
write("default_every_statistic.json", result(some, "20260901-102000", percentiles=EVERY, names=ALL, concurrency=8))
write("append.jsonl", *[result(draw(2, 30), "20260901-1030%02d" % s, rate="inf", concurrency=4) | {"duration": 4.0 + s / 10} for s in (10, 20, 30)])
write("all_failed.json", result(draw(3, 12, {i: ("Not Found", False) for i in range(12)}), "20260901-104000"))
write("all_failed_detailed.json", result(draw(3, 12, {i: ("Not Found", False) for i in range(12)}), "20260901-104000", detailed=True))
write("one_token.json", result(draw(4, 20, tokens=lambda i: 1), "20260901-105000"))
write("fewer_sent.json", result(draw(5, 20), "20260901-110000", num_prompts=25))
silent = draw(6, 20, {3: ("x", False)})
silent_result = result(silent, "20260901-111000", detailed=True)
silent_result["errors"] = [""] * 20  # a failure whose HTTP reason was empty
write("silent_failure.json", silent_result)
write("simulated.json", result(draw(2, 30), "20260901-112000") | {"model_id": "benchgate-simulated-8b"})

# A result of May 2025: fewer keys, one of them misspelt, metadata at the top.
old = result(draw(8, 50), "20250530-081522", rate="inf", detailed=True, goodput=31,
             metadata={"gpu": "H100", "model": "llama-3.1-8b", "gateway": "none"})
for key in ("endpoint_type", "label", "failed", "max_concurrency", "max_output_tokens_per_s", "max_concurrent_requests", "rtfx",
            "latencies", "queue_times", "start_times"):
    del old[key]
old["request_goodput:"] = old.pop("request_goodput")
write("old.json", old)
broken = result(draw(2, 30), "20260901-113000")
broken.update({"mean_itl_ms": float("nan"), "p99_itl_ms": float("inf"), "median_itl_ms": None, "num_prompts": "30"})
write("nan.json", broken)
pooling = {k: v for k, v in result(draw(2, 30), "20260901-114000").items() if "output" not in k and k != "failed"}
write("pooling.json", pooling | {"total_input_sequences": 30, "input_sequence_throughput": 7.5})
