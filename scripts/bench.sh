#!/usr/bin/env bash
# Speed and size: the promises beside their limits, the bootstrap beside scipy's, then the hot paths in their own units.
set -euo pipefail
cd "$(dirname "$0")/.."
go run ./bench/limits
echo
go run ./bench/resample -python "$(scripts/bench_python.sh verdicts)"
echo
go test -run '^$' -bench . -benchmem -benchtime "${BENCHTIME:-1s}" ./internal/stat ./internal/gate ./internal/openai
