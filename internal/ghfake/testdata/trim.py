#!/usr/bin/env python3
"""Cuts GitHub's REST description down to the calls that ghfake answers.

    npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
    python3 trim.py package/generated/api.github.com.json github.json

A call that is missing is one line more in CALLS. The result is sorted and has one schema a line, so that a newer
description shows as a readable difference.
"""
import json
import sys

REPO = "/repos/{owner}/{repo}"
CALLS = {
    "/rate_limit": ["get"],
    "/user": ["get"],
    REPO + "/issues": ["get"],
    REPO + "/issues/{issue_number}": ["get"],
    REPO + "/issues/{issue_number}/comments": ["get", "post"],
    REPO + "/issues/{issue_number}/labels": ["post"],
    REPO + "/issues/comments/{comment_id}": ["get", "patch", "delete"],
    REPO + "/pulls": ["get", "post"],
    REPO + "/pulls/{pull_number}": ["get", "patch"],
    REPO + "/commits/{commit_sha}/pulls": ["get"],
    REPO + "/commits/{ref}/statuses": ["get"],
    REPO + "/statuses/{sha}": ["post"],
}
PROSE = {"description", "summary", "externalDocs", "x-github", "x-octokit", "example", "examples", "title"}


def bare(node, names=False):
    """The node without prose. The keys of a map of names ("properties") are data, whatever they are called."""
    if isinstance(node, list):
        return [bare(n) for n in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {k: bare(v) for k, v in node.items()}
    kept = {k: v for k, v in node.items() if k not in PROSE}
    # A response must have a description; nothing else needs its own.
    if "description" in node and ("content" in node or "headers" in node or set(node) == {"description"}):
        kept["description"] = ""
    return {k: bare(v, k in ("properties", "responses", "headers", "content", "schemas", "parameters")) for k, v in kept.items()}


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for v in node.values():
            yield from references(v)
    elif isinstance(node, list):
        for v in node:
            yield from references(v)


def main(source, target):
    whole = json.load(open(source))
    paths = {}
    for path, methods in CALLS.items():
        item = whole["paths"][path]
        paths[path] = {k: bare(v) for k, v in item.items() if k in methods or k == "parameters"}
    components, todo = {}, list(references(paths))
    while todo:
        _, _, kind, name = todo.pop().split("/", 3)
        if name in components.setdefault(kind, {}):
            continue
        components[kind][name] = bare(whole["components"][kind][name])
        todo.extend(references(components[kind][name]))
    info = {"title": whole["info"]["title"], "version": whole["info"]["version"], "license": whole["info"]["license"]}
    with open(target, "w") as out:
        out.write('{"openapi": %s,\n"info": %s,\n"paths": {\n' % (json.dumps(whole["openapi"]), json.dumps(info, sort_keys=True)))
        out.write(lines(paths))
        out.write('},\n"components": {\n')
        out.write(",\n".join('"%s": {\n%s}' % (kind, lines(components[kind])) for kind in sorted(components)))
        out.write("\n}}\n")
    print(target, len(paths), "paths", {k: len(v) for k, v in components.items()})


def lines(named):
    rows = ('%s: %s' % (json.dumps(k), json.dumps(named[k], sort_keys=True, separators=(",", ":"))) for k in sorted(named))
    return ",\n".join(rows) + "\n"


main(*sys.argv[1:])
