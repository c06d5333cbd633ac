#!/usr/bin/env bash
# The workflows for users, from the event to the comment: act plays GitHub's runner, the tests play its API. The first call
# builds act.
#
# KEEP=DIR keeps what a person would look at: comments, summaries, logs.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(scripts/act.sh)
eval "$found"
export ACT
go test -tags act -run Chain -count=1 -timeout 20m -parallel 4 -v ./internal/acttest
