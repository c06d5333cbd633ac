#!/usr/bin/env bash
# Speed and size: the promises beside their limits, then the hot paths in their own units.
set -euo pipefail
cd "$(dirname "$0")/.."
go run ./bench/limits
echo
go test -run '^$' -bench . -benchmem -benchtime "${BENCHTIME:-1s}" ./internal/stat ./internal/gate ./internal/openai
