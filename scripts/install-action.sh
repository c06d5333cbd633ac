#!/bin/sh
# Brings benchgate for action.yml and tells where it is: bin=PATH in $GITHUB_OUTPUT. Whatever is not exactly what was pinned is
# exit 2, and nothing of it is run. It is plain sh, since the bash of macOS is of 2007.
#
# BENCHGATE_INSTALL says from where:
#   release  a file of a release. release.json of this very commit holds its SHA-256, so who pins the action pins the program.
#            Kept in $RUNNER_TOOL_CACHE, and hashed again at every use.
#   source   built from this commit with the runner's Go.
#   path     $BENCHGATE_BINARY on the runner, of the SHA-256 $BENCHGATE_BINARY_SHA256.
#
# What is run is a copy in the job's own folder, hashed after it was copied: nobody swaps it in between.
set -eu
action=$(cd "$(dirname "$0")/.." && pwd)

# die SENTENCE [HINT] says it as an error of the job, and in its summary.
die() {
  export LC_ALL=C # a foreign name may be no text at all
  # Nor must it become a command of the workflow, or markup of the summary.
  said=$(printf '%s' "$1" | tr '\n\r\t' '   ' | tr -d '\000-\037\177' | sed 's/::/: :/g; s/##\[/## [/g')
  printf '::error title=benchgate is not installed::install benchgate: %s\n' "$(printf '%s' "$said" | sed 's/%/%25/g')" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  # shellcheck disable=SC2016 # the backticks are those of Markdown
  [ -z "${GITHUB_STEP_SUMMARY:-}" ] || printf '**benchgate** is not installed: ` %s `%s\n' \
    "$(printf '%s' "$said" | tr '`' "'")" "${2:+, $2}" 2>/dev/null >>"$GITHUB_STEP_SUMMARY" || :
  exit 2
}

# sum FILE prints its SHA-256: sha256sum on Linux, shasum on macOS.
sum() {
  if command -v sha256sum >/dev/null; then
    line=$(sha256sum <"$1") || return 1
  elif command -v shasum >/dev/null; then
    line=$(shasum -a 256 <"$1") || return 1
  else
    die "neither sha256sum nor shasum is on this runner, so nothing can be checked" "install one of them"
  fi
  printf '%s\n' "${line%% *}"
}

# is_sum TEXT
is_sum() {
  case $1 in *[!0-9a-f]*) return 1 ;; esac
  [ "${#1}" -eq 64 ]
}

# is_name TEXT: a file's name and nothing more.
is_name() {
  case $1 in '' | .* | -* | *[!A-Za-z0-9._+-]*) return 1 ;; esac
}

# take FILE SHA256 SENTENCE HINT copies a file to where it is run, and runs nothing else than what it hashed.
take() {
  cp "$1" "$work/benchgate" || die "\"$1\" cannot be copied"
  got=$(sum "$work/benchgate") || {
    [ $? -ne 2 ] || exit 2 # it has said why
    die "\"$1\" cannot be hashed"
  }
  [ "$got" = "$2" ] || die "$3: its SHA-256 is $got, expected $2" "$4"
}

platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "there is no benchgate for $(uname -s)" "use a Linux or macOS runner" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "there is no benchgate for the processor $(uname -m)" "use an x64 or arm64 runner, or install: source" ;;
  esac
}

# field NAME TEXT prints the text that NAME has in a piece of JSON without blanks.
field() {
  printf '%s\n' "$2" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'
}

# pinned reads release.json: version, name, sha256 and, of a release that is elsewhere, url. No runner has to have jq: the file
# is ours, and its texts hold neither blanks nor brackets.
pinned() {
  text=$(tr -d ' \t\r\n' <"$action/release.json") || die "the action's release.json cannot be read"
  case $text in
    '{"schema":"benchgate.release/v1",'*) ;;
    *) die "the action's release.json is not a benchgate.release/v1" ;;
  esac
  head=${text%%\"files\":*}
  version=$(field version "$head")
  url=$(field url "$head")
  [ -n "$version" ] || die "this commit of the action belongs to no release, so there is nothing to download" \
    "pin the commit of a release, or set install: source (needs Go on the runner) or install: path"
  file=$(printf '%s\n' "${text#"$head"}" | tr '}' '\n' | grep "\"os\":\"$os\"" | grep "\"arch\":\"$arch\"") ||
    die "release $version has no file for $os/$arch" "set install: source or install: path"
  name=$(field name "$file")
  sha256=$(field sha256 "$file")
  is_sum "$sha256" || die "release.json gives no SHA-256 for $os/$arch, and what cannot be checked is not run"
  is_name "$version" || die "release.json has no version that could be a folder's name"
  is_name "$name" || die "release.json names no file for $os/$arch"
}

# download fetches the release's file into the cache. Two jobs at once each fetch it, and the later rename wins.
download() {
  command -v curl >/dev/null || die "curl is not on this runner" "install curl, or set install: path"
  [ -n "$url" ] || url=${GITHUB_SERVER_URL:-https://github.com}/${BENCHGATE_ACTION_REPOSITORY:-${GITHUB_REPOSITORY:-}}/releases/download/$version
  printf 'download %s/%s\n' "$url" "$name"
  # -q: no settings of the machine's user; what a proxy needs stands in the environment.
  curl -q --fail --location --proto =https --silent --show-error --retry 2 \
    --connect-timeout 20 --max-time 300 --max-filesize 268435456 --output "$work/download" --url "$url/$name" ||
    die "\"$url/$name\" could not be downloaded" "behind a proxy set https_proxy; without a network set install: path"
  take "$work/download" "$sha256" "\"$url/$name\" is not the file that this commit pins" \
    "the release was changed or the download broken; nothing of it was run"
  mkdir -p "$folder" || die "\"$folder\" cannot be made" "the tool cache has to be writable for the runner's user"
  part=$(mktemp "$folder/.part.XXXXXX") || die "\"$folder\" cannot be written" "the tool cache has to be writable for the runner's user"
  if ! { cp "$work/benchgate" "$part" && mv -f "$part" "$cached"; }; then
    rm -f "$part"
    die "\"$cached\" cannot be written"
  fi
}

from_release() {
  platform
  pinned
  folder=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/benchgate/$version/$sha256
  cached=$folder/benchgate
  [ -e "$cached" ] || {
    download
    return
  }
  take "$cached" "$sha256" "\"$cached\" is not the file that this commit pins" \
    "something on this runner has changed it: find out what, then delete it; nothing of it was run"
}

from_source() {
  command -v go >/dev/null || die "install: source needs Go on the runner" "add actions/setup-go before, or set install: release"
  (cd "$action" && env -u GOFLAGS GOWORK=off CGO_ENABLED=0 \
    go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$work/benchgate" ./cmd/benchgate) || die "go build failed"
}

from_path() {
  [ -n "${BENCHGATE_BINARY:-}" ] || die "install: path needs the input binary"
  expected=$(printf '%s' "${BENCHGATE_BINARY_SHA256:-}" | tr 'A-F' 'a-f')
  is_sum "$expected" || die "install: path needs binary-sha256, 64 hexadecimal digits, and what cannot be checked is not run" \
    "take it from the list of the release, or with shasum -a 256"
  case $BENCHGATE_BINARY in /*) binary=$BENCHGATE_BINARY ;; *) binary=./$BENCHGATE_BINARY ;; esac
  [ -f "$binary" ] || die "\"$BENCHGATE_BINARY\" is no file on this runner"
  take "$binary" "$expected" "\"$BENCHGATE_BINARY\" is another file" "nothing of it was run"
}

[ -n "${RUNNER_TEMP:-}" ] && [ -n "${GITHUB_OUTPUT:-}" ] || die "RUNNER_TEMP or GITHUB_OUTPUT is not set" "this script is for action.yml"
work=$(mktemp -d "$RUNNER_TEMP/benchgate.XXXXXX") || die "\"$RUNNER_TEMP\" cannot be written"
trap '[ -n "${finished:-}" ] || rm -rf "$work"' EXIT
case ${BENCHGATE_INSTALL:-release} in
  release) from_release ;;
  source) from_source ;;
  path) from_path ;;
  *) die "install is neither release, source nor path" ;;
esac
rm -f "$work/download"
chmod 0755 "$work/benchgate"
"$work/benchgate" version || die "what was installed does not run on this runner"
printf 'bin=%s\n' "$work/benchgate" >>"$GITHUB_OUTPUT"
finished=yes
