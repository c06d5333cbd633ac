#!/usr/bin/env bash
# Makes a real Ollama available to tests.
#
#   $ scripts/ollama.sh
#   OLLAMA=/home/you/.cache/benchgate-test/ollama-0.17.4-avx2/ollama
#
# The first call builds it from source: minutes. Later calls only print. stdout is this line, the path quoted for a shell,
# stderr is talk.
#
# Needs Linux with go, g++ and python3 with pip and venv.
# Everything comes from the registries that go and pip are set up for.
# BENCHGATE_CACHE moves the cache; deleting the folder is always safe.
set -euo pipefail
. "$(dirname "$0")/cached.sh"

version=0.17.4

# Its own build makes a library for each kind of processor and chooses at run time; here one is made, for this machine: without
# AVX2 a token takes seven times as long.
dir=$cache/ollama-$version${simd:+-avx2}
ollama=$dir/ollama
work=$dir.build

# The file has its final name only once it is complete, so its presence is enough.
ready() { [[ -x $ollama ]]; }

answer() { printf 'OLLAMA=%q\n' "$ollama" >&3; }

check_tools() { need_tools "apt-get install g++ python3-venv, and Go from https://go.dev/dl" go g++ python3; }

build() {
  make_venv
  # The module lacks two headers of llama.cpp that its C++ needs; this package carries them.
  fetch_llama_cpp --wildcards '*/llama.cpp/vendor'
  say "build ollama $version: about five minutes on two cores"
  # -O1: most of its C++ is other models, read once by the compiler and never run here.
  local flags="-O1 ${simd[*]/#/-m} '-I$work/source/llama.cpp/vendor'"
  # In a folder of its own: the flags and the go.mod of the repository around it are not Ollama's.
  # The build cache goes with the folder, since the flags name the folder and nothing would find its entries again.
  (cd "$work" && env -u GOFLAGS -u GOOS -u GOARCH GOWORK=off CGO_ENABLED=1 GOBIN="$work/bin" GOCACHE="$work/cache" \
    CGO_CFLAGS="$flags" CGO_CXXFLAGS="$flags" \
    nice -n 10 go install -p 2 -trimpath \
    -ldflags "-s -w -X github.com/ollama/ollama/version.Version=$version" \
    "github.com/ollama/ollama@v$version")
  "$work/bin/ollama" --version
  mkdir -p "$dir"
  mv "$work/bin/ollama" "$ollama"
}

obtain build
