#!/usr/bin/env bash
# bench_python.sh NAME prints a Python for benchmarks or checks alone, with what scripts/NAME.lock lists. The first call installs
# it outside the checkout; delete the folder any time.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=scripts/$1.lock
sum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -c1-12; }
venv=${XDG_CACHE_HOME:-$HOME/.cache}/benchgate-test/$1-venv-$(sum "$lock")
if [ ! -e "$venv/ready" ]; then
	rm -rf "$venv"
	"${PYTHON:-python3}" -m venv "$venv" >&2
	"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$lock" >&2
	touch "$venv/ready"
fi
echo "$venv/bin/python"
