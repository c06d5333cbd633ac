#!/usr/bin/env bash
# Measures benchgate's client beside its peers; see bench/client. The peers are installed outside the checkout, about 7 GB
# (one of them needs torch).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(scripts/bench_python.sh client)
exec go run ./bench/client -python "$python" "$@"
