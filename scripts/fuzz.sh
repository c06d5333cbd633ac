#!/usr/bin/env bash
# Runs every fuzz target for a while: FUZZ=20s each, and FUZZ_WIRE for the two that read what a server streams.
set -euo pipefail
cd "$(dirname "$0")/.."
go list -f '{{.Dir}}' ./... | while read -r dir; do
	{ grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null || true; } | awk '{print $2}' | sort -u |
		while read -r target; do
			time=${FUZZ:-20s}
			case $target in FuzzSSE | FuzzChunk) time=${FUZZ_WIRE:-$time} ;; esac
			echo "$target in ${dir#"$PWD"/}, $time"
			# Making an interesting input small may take a minute, of which no other is tried.
			go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x </dev/null
		done
done
