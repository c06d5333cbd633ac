"""Writes workloads.json: workload hashes and salts, made a second time from their description.

    python3 make_workloads.py > workloads.json

Only the list of words is read from ../words.go. A workload is a list of prompts and output lengths; its hash is SHA-256
over length-prefixed strings and 64-bit numbers.
"""

import hashlib
import json
import math
import pathlib
import re
import struct

HERE = pathlib.Path(__file__).parent
WORDS = re.findall(r'"([a-z]+)"', (HERE.parent / "words.go").read_text())
M = (1 << 64) - 1


def fnv1a(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & M
    return h


def stream(seed, purpose):
    """SplitMix64."""
    state = fnv1a(b"benchgate.load/1|" + purpose.encode()) ^ (seed * 0x9E3779B97F4A7C15 & M)
    while True:
        state = state + 0x9E3779B97F4A7C15 & M
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M
        z = (z ^ z >> 27) * 0x94D049BB133111EB & M
        yield z ^ z >> 31


def below(s, n):
    return next(s) * n >> 64


def random_prompts(seed, length, spread, requests, per_word, overhead, ids):
    lengths, words = stream(seed, "lengths"), stream(seed, "words")
    low = math.floor(length * (1 - spread) + 1e-9)
    high = math.ceil(length * (1 + spread) - 1e-9)
    for _ in range(requests):
        n = low + below(lengths, high - low + 1)
        # Go's math.Round: halves away from zero.
        n = max(8 if ids else 4, math.floor((n - overhead) / per_word + 0.5))
        if ids:
            yield {"tokens": [1000 + below(words, 29000) for _ in range(n)]}
        else:
            yield {"text": "@00000000 " + " ".join(WORDS[below(words, len(WORDS))] for _ in range(n))}


def workload_hash(rule, api, schedule, prompts, outputs):
    h = hashlib.sha256()

    def number(n):
        h.update(struct.pack(">q", n))

    def text(s):
        data = s.encode()
        number(len(data))
        h.update(data)

    text("benchgate.workload/1")
    text(rule)
    text(api)
    text(schedule)
    for p, n in zip(prompts, outputs, strict=True):
        text(p.get("text", ""))
        number(len(p.get("tokens", [])))
        for t in p.get("tokens", []):
            number(t)
        number(len(p.get("messages", [])))
        for m in p.get("messages", []):
            text(m["role"])
            text(m["content"])
        number(n)
    return "sha256:" + h.hexdigest()


def salt(seed, campaign, run):
    digest = hashlib.sha256(f"benchgate.salt/1\0{seed}\0{campaign}\0{run}".encode()).digest()
    return "#%08d" % (int.from_bytes(digest[:8], "big") % 10**8)


def main():
    opened = "open seed=42 rate=8 burstiness=1 requests=20 max_concurrency=0"
    words = list(random_prompts(42, 64, 0.2, 20, 1.25, 20, False))
    ids = list(random_prompts(42, 64, 0.2, 20, 1, 1, True))
    file = [{"text": "one"}, {"text": "two"}, {"text": "one"}]
    print(json.dumps({
        "hashes": {
            "words, open loop": workload_hash("first word/1", "chat", opened, words, [16] * 20),
            "words, closed loop": workload_hash("first word/1", "chat", "closed concurrency=4 requests=20", words, [16] * 20),
            "words, reused": workload_hash("none", "chat", opened, words, [16] * 20),
            "token ids": workload_hash("first word/1", "completions", opened, ids, [16] * 20),
            "file": workload_hash("first word/1", "chat", opened.replace("requests=20", "requests=3"), file, [16, 9, 16]),
            "messages": workload_hash("first word/1", "chat", opened.replace("requests=20", "requests=2"),
                                      [{"text": "one"}, {"messages": [{"role": "user", "content": "two"}]}], [16, 16]),
        },
        "first prompt": words[0]["text"],
        "salts": [{"seed": s, "campaign": c, "run": r, "salt": salt(s, c, r)}
                  for s, c, r in [(42, "2026-01-01", 7), (0, "", 0), (4294967295, "é", 123456)]],
    }, indent=1, ensure_ascii=False))


main()
