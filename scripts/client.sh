#!/usr/bin/env bash
# Measures benchgate's client beside its peers; see bench/client. The peers are installed outside the checkout, about 7 GB
# (one of them needs torch); delete the folder any time.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=scripts/client.lock
sum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -c1-12; }
venv=${XDG_CACHE_HOME:-$HOME/.cache}/benchgate-test/client-venv-$(sum "$lock")
if [ ! -e "$venv/ready" ]; then
	rm -rf "$venv"
	"${PYTHON:-python3}" -m venv "$venv" >&2
	"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$lock" >&2
	touch "$venv/ready"
fi
exec go run ./bench/client -python "$venv/bin/python" "$@"
