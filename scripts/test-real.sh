#!/usr/bin/env bash
# The tests that need a real llama-server and a real Ollama; the first call builds both.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(scripts/llama-server.sh)
eval "$found"
found=$(scripts/ollama.sh)
eval "$found"
export LLAMA_SERVER LLAMA_MODEL OLLAMA
go test -tags real -run 'Real|WrongEndpoint' -count=1 -timeout 40m -v ./cmd/benchgate
