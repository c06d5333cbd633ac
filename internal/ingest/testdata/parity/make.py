"""Writes streams.json: recorded streams, and what the client of vllm bench serve 0.33.0 makes of each.

    pip download vllm==0.33.0 --no-deps
    unzip vllm-0.33.0-*.whl 'vllm/benchmarks/*' -d vllm-0.33.0
    pip install aiohttp==3.14.5 numpy==2.4.6 tqdm regex
    python3 make.py vllm-0.33.0

vLLM's own request functions run against a server that writes the pieces of a stream over loopback, one read each. Their
clock is ours: it shows the moment that the case gives, so that the results are exact. Then its own calculate_metrics
runs over groups of the answers. What both modules import but do not use here (tokenizers, datasets) is left empty.
"""
import asyncio
import dataclasses
import json
import math
import os
import sys
import types
import warnings
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
ASKED = 8


# --- the streams -------------------------------------------------------------------------------------------------------

def data(value):
    return "data: %s\n\n" % (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def delta(finish=None, usage=None, **d):
    event = {"choices": [{"index": 0, "delta": d, "finish_reason": finish}]}
    if usage:
        event["usage"] = usage
    return event


def usage(out, prompt=9):
    return {"prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out}


ROLE = data(delta(role="assistant", content=""))
FINISH = data(delta(finish="length"))
DONE = data("[DONE]")
WORD = data(delta(content=" w"))


def count(out):
    return data({"choices": [], "usage": usage(out)})


def words(n, start=100, step=20, event=WORD):
    return [(start + i * step, event) for i in range(n)]


def ending(at, out, finish=FINISH, done=DONE):
    """Finish reason, count and end of a stream, each in a read of its own."""
    return [(at, finish), (at + 1, count(out)), (at + 2, done)]


def text(t, finish=None, usage=None):
    event = {"choices": [{"index": 0, "text": t, "finish_reason": finish}]}
    if usage:
        event["usage"] = usage
    return data(event)


def think(n, field, start, step=20):
    return [(start + i * step, data(delta(**{field: " t"}))) for i in range(n)]


CRLF = lambda event: event.replace("\n", "\r\n")

# name: (what it is, pieces, more). More may hold: api, end ("clean" unless set, or "cut": the connection breaks), asked,
# exact, status, type (the content type).
CASES = {
    "plain": ("eight tokens, a chunk each", [(5, ROLE)] + words(8) + ending(250, 8), {}),
    "late_usage": ("the count comes 300 ms after the last token", [(5, ROLE)] + words(8) + [(241, FINISH), (540, count(8)), (541, DONE)], {}),
    "coalesced": ("four tokens in each of two reads", [(5, ROLE), (100, WORD * 4), (180, WORD * 4)] + ending(181, 8), {}),
    "split": ("an event cut in two", [(5, ROLE), (100, WORD[:20]), (107, WORD[20:])] + words(7, 120) + ending(250, 8), {}),
    "one_token": ("an answer of one token", [(5, ROLE), (100, WORD)] + ending(101, 1), {"asked": 1}),
    "pings": ("comments before the first token and between two", [(5, ":\n\n"), (6, ROLE)] + words(4) + [(170, ": ping\n\n")] + words(4, 180) + ending(250, 8), {}),
    "no_done": ("no [DONE]", [(5, ROLE)] + words(8) + ending(250, 8)[:2], {}),
    "reasoning": ("reasoning in the field reasoning", [(5, ROLE)] + think(5, "reasoning", 100) + words(3, 900) + ending(950, 8), {}),
    "tool_call": ("tool calls alone", [(5, ROLE)] + words(8, event=data(delta(tool_calls=[{"index": 0, "function": {"arguments": "{"}}]))) + ending(250, 8, data(delta(finish="tool_calls"))), {}),
    "reasoning_content": ("reasoning in the field reasoning_content", [(5, ROLE)] + think(5, "reasoning_content", 100) + words(3, 900) + ending(950, 8), {}),
    "reasoning_in_turns": ("reasoning_content and content in turns", [(5, ROLE)] + think(2, "reasoning_content", 100) + words(2, 200) + think(2, "reasoning_content", 300) + words(2, 400) + ending(450, 8), {}),
    "reasoning_content_only": ("nothing but reasoning_content", [(5, ROLE)] + think(8, "reasoning_content", 100) + ending(250, 8), {}),
    "refusal": ("a refusal alone", [(5, ROLE)] + words(8, event=data(delta(refusal=" no"))) + ending(250, 8), {}),
    "second_choice": ("text in the second choice alone", [(5, ROLE)] + words(8, event=data({"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {"content": " w"}}]})) + ending(250, 8), {}),
    "empty_text_at_the_end": ("the chunk with the finish reason has the content \"\"", [(5, ROLE)] + words(8) + ending(300, 8, data(delta(content="", finish="length"))), {}),
    "empty_text_between": ("tokens that are special and decode to nothing", [(5, ROLE), (60, data(delta(content=""))), (80, data(delta(content="")))] + words(4) + [(180, data(delta(content="")))] + words(1, 200) + ending(250, 8), {}),
    "empty_answer": ("no token", [(5, ROLE)] + ending(40, 0, data(delta(finish="stop"))), {}),
    "empty_answer_with_text": ("no token, and a finish reason with the content \"\"", [(5, ROLE)] + ending(40, 0, data(delta(content="", finish="stop"))), {}),
    "usage_with_text": ("the count stands in the chunk of the last token alone", [(5, ROLE)] + words(7) + [(240, data(delta(content=" w", finish="length", usage=usage(8)))), (241, DONE)], {}),
    "usage_in_each_chunk": ("a running count in each chunk, and one at the end", [(5, ROLE)] + [(100 + 20 * i, data(delta(content=" w", usage=usage(i + 1)))) for i in range(8)] + ending(250, 8), {}),
    "usage_with_finish": ("the count stands beside the finish reason", [(5, ROLE)] + words(8) + [(250, data(delta(finish="length", usage=usage(8)))), (251, DONE)], {}),
    "no_usage": ("no count at all", [(5, ROLE)] + words(8) + [(250, FINISH), (251, DONE)], {}),
    "error_in_stream": ("an error in the stream after five tokens", [(5, ROLE)] + words(5) + [(200, data({"error": {"message": "out of memory", "code": 500}})), (201, DONE)], {}),
    "error_at_once": ("an error in the stream instead of tokens", [(5, data({"error": {"message": "no such model"}})), (6, DONE)], {}),
    "error_event": ("an event named error after five tokens", [(5, ROLE)] + words(5) + [(200, "event: error\n" + data({"error": {"message": "boom"}}))], {}),
    "gave_up": ("finish_reason abort", [(5, ROLE)] + words(5) + ending(200, 5, data(delta(finish="abort"))), {}),
    "truncated": ("the stream ends after five tokens, cleanly and without a finish reason", [(5, ROLE)] + words(5), {}),
    "truncated_with_done": ("[DONE] after five tokens, and neither a finish reason nor a count", [(5, ROLE)] + words(5) + [(200, DONE)], {}),
    "nothing": ("a stream without an event", [], {}),
    "cut": ("the connection breaks after five tokens", [(5, ROLE)] + words(5), {"end": "cut"}),
    "cut_before_a_token": ("the connection breaks before the first token", [(5, ROLE)], {"end": "cut"}),
    "cut_after_the_end": ("the connection breaks after [DONE]", [(5, ROLE)] + words(8) + ending(250, 8), {"end": "cut"}),
    "cut_after_the_count": ("the connection breaks after the count", [(5, ROLE)] + words(8) + ending(250, 8)[:2], {"end": "cut"}),
    "too_long": ("twelve tokens although eight were asked for", [(5, ROLE)] + words(12) + ending(350, 12), {}),
    "too_short": ("five tokens although the server can write exactly eight", [(5, ROLE)] + words(5) + ending(200, 5, data(delta(finish="stop"))), {"exact": True}),
    "not_json": ("a chunk that is not JSON", [(5, ROLE)] + words(3) + [(165, "data: oops\n\n")] + words(3, 180), {}),
    "no_space": ("data: without a space", [(5, ROLE.replace("data: ", "data:"))] + words(8, event=WORD.replace("data: ", "data:")) + [(250, FINISH.replace("data: ", "data:"))], {}),
    "no_space_later": ("data: without a space from the sixth token on", [(5, ROLE)] + words(5) + words(3, 200, event=WORD.replace("data: ", "data:")) + ending(260, 8), {}),
    "event_lines": ("an event: line before each data: line", [(5, "event: message\n" + ROLE)] + words(8, event="event: message\n" + WORD) + ending(250, 8), {}),
    "retry_line": ("a retry: line by itself", [(5, ROLE)] + words(4) + [(170, "retry: 1000\n\n")] + words(4, 180) + ending(250, 8), {}),
    "comment_before_data": ("a comment and data in one event, that of the first token", [(5, ROLE), (100, ": ping\n" + WORD)] + words(7, 120) + ending(250, 8), {}),
    "comment_after_data": ("data and a comment in one event", [(5, ROLE)] + words(4) + [(180, WORD[:-1] + ": ping\n\n")] + words(3, 200) + ending(250, 8), {}),
    "data_lines": ("a chunk over two data: lines", [(5, ROLE)] + words(4) + [(180, 'data: {"choices":\ndata: [{"index":0,"delta":{"content":" w"}}]}\n\n')] + words(3, 200) + ending(250, 8), {}),
    "empty_data": ("an event with nothing in its data", [(5, ROLE)] + words(4) + [(170, "data: \n\n")] + words(4, 180) + ending(250, 8), {}),
    "byte_order_mark": ("a byte order mark", [(5, "\ufeff" + ROLE)] + words(8) + ending(250, 8), {}),
    "completions": ("completions, a finish reason with a text in it", [(100 + 20 * i, text(" w", "length" if i == 7 else None)) for i in range(8)] + [(250, count(8)), (251, DONE)], {"api": "completions"}),
    "completions_empty_text": ("completions, a chunk without text at the end, as llama-server sends it", [(100 + 20 * i, text(" w")) for i in range(8)] + [(300, text("", "length")), (301, count(8)), (302, DONE)], {"api": "completions"}),
    "completions_usage_with_choices": ("completions, the count beside the last choice, as llama-server sends it", [(100 + 20 * i, text(" w")) for i in range(8)] + [(300, text("", "length", usage(8))), (301, DONE)], {"api": "completions"}),
    "completions_special_tokens": ("completions, tokens that decode to nothing", [(60, text("")), (80, text(""))] + [(100 + 20 * i, text(" w")) for i in range(6)] + [(250, text("", "length")), (251, count(8)), (252, DONE)], {"api": "completions"}),
    "overloaded": ("HTTP 503", [(20, '{"error":"busy"}')], {"status": 503, "type": "application/json"}),
    "rate_limited": ("HTTP 429", [(20, '{"error":"slow down"}')], {"status": 429, "type": "application/json"}),
    "json_body": ("one JSON body instead of a stream", [(200, json.dumps({"choices": [{"message": {"content": "w w w"}, "finish_reason": "stop"}], "usage": usage(8)}))], {"type": "application/json"}),
    # What vllm bench serve makes of these hangs on how the bytes fall into reads, or on what came after benchgate left.
    "crlf": ("line ends of CR LF, an event a read", [(t, CRLF(e)) for t, e in [(5, ROLE)] + words(8) + ending(250, 8)], {}),
    "crlf_coalesced": ("line ends of CR LF, two events in one read after the fourth token", [(t, CRLF(e)) for t, e in [(5, ROLE)] + words(4) + [(190, WORD + WORD)] + words(2, 200) + ending(250, 8)], {}),
    "cr": ("line ends of CR", [(t, e.replace("\n", "\r")) for t, e in [(5, ROLE)] + words(8) + ending(250, 8)], {}),
    "late_blank_line": ("an event whose blank line comes 15 ms later", [(5, ROLE), (100, WORD[:-2]), (115, "\n\n")] + words(7, 120) + ending(250, 8), {}),
    "no_last_blank_line": ("the count comes without its blank line, then the stream ends", [(5, ROLE)] + words(8) + [(250, FINISH), (251, count(8)[:-2])], {}),
    "after_the_error": ("more tokens after an error", [(5, ROLE)] + words(5) + [(200, data({"error": {"message": "retrying"}}))] + words(3, 240) + ending(290, 8), {}),
    "runs_on": ("forty tokens although eight were asked for", [(5, ROLE)] + words(40) + ending(950, 40), {}),
}

# Groups over which the metrics are computed, with an objective in ms. The requests of a group start 0.31 s apart.
NOT_COUNTED = ["empty_answer_with_text", "usage_with_text", "no_usage", "error_in_stream", "truncated", "truncated_with_done", "completions_usage_with_choices"]
OWN_LIMITS = ["crlf", "crlf_coalesced", "cr", "late_blank_line", "no_last_blank_line", "after_the_error", "runs_on"]
GROUPS = {
    "all": ([n for n in CASES if n not in NOT_COUNTED + OWN_LIMITS], {"ttft": 150.0, "tpot": 25.0, "e2el": 300.0}),
    "same": (["plain", "late_usage", "coalesced", "split", "one_token", "pings", "no_done", "reasoning", "tool_call"], {"ttft": 100.0, "tpot": 20.0}),
    "failed": (["overloaded", "rate_limited", "json_body", "cut_before_a_token", "nothing"], {"ttft": 150.0}),
    "one": (["one_token"], {"tpot": 0.0}),
}
PERCENTILES = [50.0, 90.0, 95.0, 99.0]


# --- vLLM's code --------------------------------------------------------------------------------------------------------

def load(folder):
    sys.path.insert(0, folder)
    for name in ("datasets",):
        sys.modules["vllm.benchmarks." + name] = mock.MagicMock()
    for name in ("logger", "tokenizers", "utils", "utils.argparse_utils", "utils.gc_utils", "utils.network_utils"):
        sys.modules["vllm." + name] = mock.MagicMock()
    from vllm.benchmarks import serve
    from vllm.benchmarks.lib import endpoint_request_func
    return serve, endpoint_request_func


class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now


async def play(erf, clock, start, pieces, api="chat", end="clean", asked=ASKED, exact=False, status=200, type="text/event-stream"):
    """Runs one request, which starts at that moment."""
    import aiohttp
    read = asyncio.Event()  # the client has read, or left
    left = False
    handlers = []

    class Watched(erf.StreamedResponseHandler):
        def add_chunk(self, piece):
            read.set()
            return super().add_chunk(piece)

    async def serve(reader, writer):
        handlers.append(asyncio.current_task())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(next(l for l in head.lower().split(b"\r\n") if l.startswith(b"content-length")).split(b":")[1])
        await reader.readexactly(length)
        writer.write(("HTTP/1.1 %d X\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % (status, type)).encode())
        for at, piece in pieces:
            if left:
                return
            read.clear()
            clock.now = start + at / 1000
            b = piece.encode()
            writer.write(b"%x\r\n%s\r\n" % (len(b), b))
            await writer.drain()
            if status == 200:
                await read.wait()
        if end == "clean":
            writer.write(b"0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    path, function = ("/v1/completions", erf.async_request_openai_completions)
    if api == "chat":
        path, function = ("/v1/chat/completions", erf.async_request_openai_chat_completions)
    clock.now = start
    plain = erf.StreamedResponseHandler
    erf.StreamedResponseHandler = Watched
    try:
        async with aiohttp.ClientSession(trust_env=False) as session:
            out = await function(erf.RequestFuncInput(
                prompt="hello", api_url="http://127.0.0.1:%d%s" % (port, path), prompt_len=9, output_len=asked, model="m"), session)
    finally:
        erf.StreamedResponseHandler = plain
        left = True
        read.set()
        await asyncio.gather(*handlers, return_exceptions=True)
        server.close()
    return out


def told(out):
    return {
        "success": out.success, "start": out.start_time, "ttft": out.ttft, "latency": out.latency, "itl": out.itl,
        "output_tokens": out.output_tokens or 0, "prompt_tokens": out.prompt_len,
        "error": out.error.strip().split("\n")[-1],
    }


def number(v):
    return v.item() if hasattr(v, "item") else v


def metrics(serve, outputs, duration, goodput):
    with mock.patch("builtins.print"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m, lens = serve.calculate_metrics(input_requests=[], outputs=outputs, dur_s=duration, tokenizer=None,
                                          selected_percentiles=PERCENTILES, goodput_config_dict=goodput)
    flat = {"duration": duration, "output_lens": lens}
    for key, value in dataclasses.asdict(m).items():
        if key.startswith("percentiles_"):
            for p, v in value:
                flat["p%d_%s" % (p, key.removeprefix("percentiles_"))] = number(v)
        else:
            flat[{"total_input": "total_input_tokens", "total_output": "total_output_tokens"}.get(key, key)] = number(value)
    return flat


def main():
    serve, erf = load(sys.argv[1])
    clock = Clock()
    erf.time = clock
    cases = []
    for name, (what, pieces, more) in CASES.items():
        out = asyncio.run(play(erf, clock, 0.25, pieces, **more))
        cases.append({"name": name, "what": what, **{"asked": ASKED, **more}, "pieces": [[t, p] for t, p in pieces], "vllm": told(out)})
    groups = []
    for name, (members, goodput) in GROUPS.items():
        outputs = []
        for i, member in enumerate(members):
            _, pieces, more = CASES[member]
            outputs.append(asyncio.run(play(erf, clock, 0.25 + 0.31 * i, pieces, **more)))
        duration = 0.25 + 0.31 * len(members) + 1
        groups.append({"name": name, "cases": members, "objective_ms": goodput, "vllm": metrics(serve, outputs, duration, goodput)})
    import aiohttp
    import numpy
    with open(os.path.join(HERE, "streams.json"), "w", encoding="utf-8") as f:
        f.write('{"made_with": %s,\n"start": 0.25, "apart": 0.31,\n"cases": [\n' % json.dumps("vllm 0.33.0, aiohttp %s, numpy %s" % (aiohttp.__version__, numpy.__version__)))
        f.write(",\n".join(json.dumps(c) for c in cases))
        f.write('\n],\n"groups": [\n' + ",\n".join(json.dumps(g) for g in groups) + "\n]}\n")


main()
