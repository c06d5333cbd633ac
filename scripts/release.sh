#!/usr/bin/env bash
# release.sh VERSION [FOLDER]: a static binary for every platform, their sums, and release.json, in FOLDER (dist by default).
#
# The same sources, version and Go release give the same bytes wherever they are built: no path, no time, no commit and no
# setting of the environment goes into a binary. A release is made in this order: make release, commit release.json, tag;
# whoever doubts it builds the tag and compares.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?usage: release.sh VERSION [FOLDER]}
dist=${2:-dist}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || {
  echo "release: \"$version\" is no version"
  echo "hint: write it like v1.2.3 or v1.2.3-rc.1"
  exit 2
} >&2

# What a machine may have set for itself would change the bytes.
export CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOFIPS140=off GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOWORK=off
unset GOEXPERIMENT
[[ -z $(go env GOEXPERIMENT) ]] || {
  echo "release: this machine's go has experiments switched on"
  echo "hint: go env -u GOEXPERIMENT"
  exit 2
} >&2

sum() {
  if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

mkdir -p "$dist"
rm -f "$dist"/benchgate_* "$dist/SHA256SUMS" "$dist/release.json"
names=()
for platform in ${PLATFORMS:-darwin/amd64 darwin/arm64 linux/amd64 linux/arm64}; do
  name=benchgate_${version}_${platform%/*}_${platform#*/}
  echo "release: build $name" >&2
  GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X main.version=$version" -o "$dist/$name" ./cmd/benchgate
  names+=("$name")
done
(cd "$dist" && sum "${names[@]}") >"$dist/SHA256SUMS"

{
  printf '{\n  "schema": "benchgate.release/v1",\n  "version": "%s",\n  "go": "%s",\n  "files": [' "$version" "$(go env GOVERSION)"
  comma=
  while read -r hash name; do
    platform=${name#"benchgate_${version}_"}
    printf '%s\n    {"os": "%s", "arch": "%s", "name": "%s", "sha256": "%s"}' "$comma" "${platform%_*}" "${platform#*_}" "$name" "$hash"
    comma=,
  done <"$dist/SHA256SUMS"
  printf '\n  ]\n}\n'
} >"$dist/release.json"
cat "$dist/SHA256SUMS"
