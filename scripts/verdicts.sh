#!/usr/bin/env bash
# Puts benchgate and its peers through the same simulated worlds; see bench/verdicts. scipy is installed outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=scripts/verdicts.lock
sum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -c1-12; }
venv=${XDG_CACHE_HOME:-$HOME/.cache}/benchgate-test/verdicts-venv-$(sum "$lock")
if [ ! -e "$venv/ready" ]; then
	rm -rf "$venv"
	"${PYTHON:-python3}" -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$lock"
	touch "$venv/ready"
fi
exec go run ./bench/verdicts -python "$venv/bin/python" -o bench/verdicts.json "$@"
