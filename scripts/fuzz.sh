#!/usr/bin/env bash
# Runs every fuzz target for a while: FUZZ=20s each.
set -euo pipefail
cd "$(dirname "$0")/.."
go list -f '{{.Dir}}' ./... | while read -r dir; do
	{ grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go 2>/dev/null || true; } | awk '{print $2}' | sort -u |
		while read -r target; do
			echo "$target in ${dir#"$PWD"/}"
			go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZ:-20s}" </dev/null
		done
done
