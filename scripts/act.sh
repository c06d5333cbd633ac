#!/usr/bin/env bash
# Makes act available to tests: it runs GitHub's workflows on this machine.
#
#   $ scripts/act.sh
#   ACT=/home/you/.cache/benchgate-test/act-0.2.89/act
#
# The first call builds it from source: about two minutes. Later calls only print. stdout is this line, the path quoted for a
# shell, stderr is talk.
#
# Needs go. What it is built from is pinned in tools/act/go.mod, apart from tools/go.mod: it is a hundred modules.
# BENCHGATE_CACHE moves the cache; deleting the folder is always safe.
set -euo pipefail
. "$(dirname "$0")/cached.sh"

version=0.2.89

dir=$cache/act-$version
act=$dir/act
work=$dir.build
source=$(dirname "$0")/../tools/act

# The file has its final name only once it is complete, so its presence is enough.
ready() { [[ -x $act ]]; }

answer() { printf 'ACT=%q\n' "$act" >&3; }

check_tools() { need_tools "Go from https://go.dev/dl" go; }

build() {
  say "build act $version: about two minutes on two cores"
  env -u GOFLAGS -u GOOS -u GOARCH GOWORK=off CGO_ENABLED=0 \
    nice -n 10 go -C "$source" build -trimpath -ldflags '-s -w' -o "$work/act" github.com/nektos/act
  [[ $("$work/act" --version) == "act version $version" ]] || die "tools/act/go.mod asks for another version than $version"
  mkdir -p "$dir"
  mv "$work/act" "$act"
}

obtain build
