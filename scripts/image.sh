#!/usr/bin/env bash
# image.sh: builds the image of Dockerfile from a release binary of this machine's architecture and runs it, with buildah and
# no daemon. On Debian it installs buildah when it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
  echo "image: $1"
  echo "hint: $2"
  exit 1
} >&2

command -v buildah >/dev/null || {
  command -v apt-get >/dev/null || die "\"buildah\" is not installed" "install it, or build Dockerfile with the tool of your choice"
  as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || die "\"buildah\" is not installed, and there is no sudo to install it with" "install buildah and uidmap"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends buildah uidmap >/dev/null
}

platform=linux/$(go env GOARCH)
PLATFORMS=$platform scripts/release.sh v0.0.0-image dist/image >/dev/null
mv "dist/image/benchgate_v0.0.0-image_${platform/\//_}" dist/image/benchgate
for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
  [[ ! -e $bundle ]] || break
done
[[ -e $bundle ]] || die "no bundle of certificates found" "install ca-certificates"
cp -L "$bundle" dist/image/ca-certificates.crt

# vfs and chroot need no kernel module and no daemon; of a user who is not root, a user namespace.
store=$(mktemp -d)
container=
b() { buildah --storage-driver vfs --root "$store/root" --runroot "$store/run" "$@"; }
clean() {
  [[ -z $container ]] || b rm "$container" >/dev/null || true
  b rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$store"
}
trap clean EXIT

b bud --isolation chroot --tag localhost/benchgate:test . >/dev/null
container=$(b from localhost/benchgate:test)
inside() { b run --isolation chroot --volume "$PWD/examples:/examples:ro" "$container" -- /benchgate "$@"; }

inside version
code=0
inside gate -c /examples/llama-server/benchgate.yaml --baseline /examples/llama-server/base.json \
  --candidate /examples/llama-server/one-slot.json -o /verdict.json >"$store/told" || code=$?
head -3 "$store/told"
[[ $code == 1 ]] || die "a regression inside the image exits with $code, not with 1" "run the same command outside it"
size=$(du -sk "$(b mount "$container")" | cut -f1)
b umount "$container" >/dev/null
echo "image: built and run, $((size / 1024)) MiB"
