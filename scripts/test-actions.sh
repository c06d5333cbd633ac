#!/usr/bin/env bash
# What benchgate does on GitHub: every fault of its API, then the workflows for users, from the event to the comment: act
# plays GitHub's runner, the tests play its API. The first call builds act.
#
# KEEP=DIR keeps what a person would look at: comments, summaries, logs.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(scripts/act.sh)
eval "$found"
export ACT
go test -count=1 ./internal/ghfake/... ./internal/github
go test -count=1 -run NoFault ./cmd/benchgate
go test -tags act -run Chain -count=1 -timeout 20m -parallel 8 -v ./internal/acttest
