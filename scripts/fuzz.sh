#!/usr/bin/env bash
# Runs every fuzz target for a while: FUZZ=20s each, and FUZZ_WIRE for the two that read what a server streams.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(mktemp)
trap 'rm -f "$out"' EXIT

# ended says whether a target that go test calls failed has only come to the end of its time: Go before 1.27 now and then takes
# its own deadline for a failure (go.dev/issue/75804). What a target finds is always written to a file, and the line that
# names the file is then there, too.
ended() {
	[[ $(grep -A1 -- '^ *--- FAIL:' "$out") =~ ^"--- FAIL: $1 ("[0-9.]+"s)"$'\n'"    context deadline exceeded"$ ]] &&
		! grep -qE 'Failing input written|panic:|DATA RACE|fuzzing process' "$out"
}

go list -f '{{.Dir}}' ./... | while read -r dir; do
	{ grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null || true; } | awk '{print $2}' | sort -u |
		while read -r target; do
			time=${FUZZ:-20s}
			case $target in FuzzSSE | FuzzChunk) time=${FUZZ_WIRE:-$time} ;; esac
			echo "$target in ${dir#"$PWD"/}, $time"
			# Making an interesting input small may take a minute, of which no other is tried.
			go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x </dev/null 2>&1 | tee "$out" && continue
			ended "$target" || exit 1
			echo "$target: its time is over and nothing was found"
		done
done
