#!/usr/bin/env bash
# Puts benchgate and its peers through the same simulated worlds; see bench/verdicts. scipy is installed outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./bench/verdicts -python "$(scripts/bench_python.sh verdicts)" -o bench/verdicts.json "$@"
