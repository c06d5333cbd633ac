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


def half_up(x):
    """Go's math.Round: halves away from zero."""
    return math.floor(x + 0.5)


def prefix_prompts(seed, prefix, groups, own, requests, per_word, overhead, ids):
    size = max(1, half_up(prefix / per_word))
    words = stream(seed, "prefixes")
    draw = (lambda s: 1000 + below(s, 29000)) if ids else (lambda s: WORDS[below(s, len(WORDS))])
    heads = [[draw(words) for _ in range(size)] for _ in range(groups)]
    group, words = stream(seed, "groups"), stream(seed, "words")
    for _ in range(requests):
        head = heads[below(group, groups)]
        all_of_it = head + [draw(words) for _ in range(max(4, half_up((prefix + own - overhead) / per_word) - size))]
        yield {"tokens": all_of_it} if ids else {"text": "@00000000 " + " ".join(all_of_it)}


def pieces(text):
    """Runs of the same kind of byte: words of nine letters, numbers of three digits, four bytes beyond ASCII, two signs."""
    n = 0
    for run in re.findall(rb"[A-Za-z]+|[0-9]+|[\x80-\xff]+|[\x00-\x20]+|[^A-Za-z0-9\x80-\xff\x00-\x20]+", text.encode()):
        if run[0] <= 32:
            n += run != b" "
        elif run[:1].isalpha():
            n += math.ceil(len(run) / 9)
        elif run[:1].isdigit():
            n += math.ceil(len(run) / 3)
        else:
            n += math.ceil(len(run) / (4 if run[0] >= 128 else 2))
    return n


def conversations(seed, file, longest, ceiling, requests, per_word):
    """The questions of a ShareGPT file in the order of the numbers that they draw."""
    numbers, chosen = stream(seed, "sharegpt"), []
    for talk in json.loads((HERE / file).read_text()):
        number = next(numbers)
        turns = talk["conversations"]
        at = next((i for i, t in enumerate(turns) if t["from"] in ("human", "user")), len(turns))
        if at + 1 >= len(turns) or turns[at + 1]["from"] not in ("gpt", "chatgpt", "assistant", "bing", "bard", "model"):
            continue
        asked, answered = (math.ceil(pieces(turns[i]["value"]) * per_word) for i in (at, at + 1))
        if 4 <= asked <= longest and answered >= 4:
            chosen.append((number, turns[at]["value"], min(answered, ceiling)))
    chosen.sort()
    chosen = [chosen[i % len(chosen)] for i in range(requests)]
    return [{"text": q} for _, q, _ in chosen], [n for _, _, n in chosen]


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
    talks = conversations(42, "talks.json", 60, 18, 6, 1.25)
    file = [{"text": "one"}, {"text": "two"}, {"text": "one"}]
    print(json.dumps({
        "hashes": {
            "words, open loop": workload_hash("first word/1", "chat", opened, words, [16] * 20),
            "words, closed loop": workload_hash("first word/1", "chat", "closed concurrency=4 requests=20", words, [16] * 20),
            "words, reused": workload_hash("none", "chat", opened, words, [16] * 20),
            "token ids": workload_hash("first word/1", "completions", opened, ids, [16] * 20),
            "file": workload_hash("first word/1", "chat", opened.replace("requests=20", "requests=3"), file, [16, 9, 16]),
            "words, a minute": workload_hash("first word/1", "chat", "closed concurrency=4 requests=20 min_duration=60",
                                             list(random_prompts(42, 64, 0.2, 160, 1.25, 20, False)), [16] * 160),
            "prefixes": workload_hash("first word/1", "chat", opened,
                                      prefix_prompts(42, 40, 3, 20, 20, 1.25, 20, False), [16] * 20),
            "prefixes of ids": workload_hash("first word/1", "completions", opened,
                                             prefix_prompts(42, 40, 3, 20, 20, 1, 1, True), [16] * 20),
            "conversations": workload_hash("first word/1", "chat", opened.replace("requests=20", "requests=6"), *talks),
            "messages": workload_hash("first word/1", "chat", opened.replace("requests=20", "requests=2"),
                                      [{"text": "one"}, {"messages": [{"role": "user", "content": "two"}]}], [16, 16]),
        },
        "first prompt": words[0]["text"],
        "salts": [{"seed": s, "campaign": c, "run": r, "salt": salt(s, c, r)}
                  for s, c, r in [(42, "2026-01-01", 7), (0, "", 0), (4294967295, "é", 123456)]],
    }, indent=1, ensure_ascii=False))


main()
