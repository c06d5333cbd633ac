#!/usr/bin/env bash
# The tests that need a real llama-server; the first call builds it.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(scripts/llama-server.sh)
eval "$found"
export LLAMA_SERVER LLAMA_MODEL
go test -tags real -run 'Real|WrongEndpoint' -count=1 -timeout 40m -v ./cmd/benchgate
