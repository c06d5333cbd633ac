#!/usr/bin/env bash
# lint-actions.sh: actionlint, with shellcheck, and zizmor over the workflows of this repository, its examples, action.yml and
# what `benchgate init` writes. Both are pinned; the first call installs zizmor outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(scripts/bench_python.sh lint)
bin=$(dirname "$python")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What people get is read as they get it. A program that knows its commit writes it, one that does not writes zeros.
go build -o "$work/benchgate" ./cmd/benchgate
for on in pull_request merge_group; do
  "$work/benchgate" -q init --gate-on "$on" --dir "$work/$on" >/dev/null
done
files=(.github/workflows/*.yml examples/workflows/*.yml "$work"/*/.github/workflows/*.yml)

go tool -modfile=tools/go.mod actionlint -config-file .github/actionlint.yaml -shellcheck "$bin/shellcheck" -pyflakes= "${files[@]}"
"$bin/shellcheck" scripts/install-action.sh
# --no-config: what is ignored is ignored in its line, with the reason.
"$bin/zizmor" --offline --no-progress --no-config --quiet action.yml "${files[@]}"
echo "actionlint and zizmor: ${#files[@]} workflows and action.yml are clean"
