#!/usr/bin/env bash
# Makes an image of one layer, without an engine and without a registry, in the form of `docker save`.
#
#   tools/kubernetes/image.sh OUT.tar NAME ROOT CONFIG [amd64 | arm64]
#
# ROOT is a folder, or an archive of one; CONFIG is the image's configuration as JSON: {"Entrypoint":["/bin/sh"]}. It is for
# this machine's architecture unless another is named.
set -euo pipefail

[ $# -eq 4 ] || [ $# -eq 5 ] || { echo "Usage: $0 OUT.tar NAME ROOT CONFIG [amd64 | arm64]" >&2; exit 2; }
out=$1 name=$2 root=$3 config=$4 architecture=${5:-$(uname -m)}
work=$(mktemp -d "${TMPDIR:-/tmp}/berth-image-XXXXXX")
trap 'rm -rf "$work"' EXIT

case $root in
  *.tar) cp "$root" "$work/layer.tar" ;;
  *.tar.gz) gzip -dc "$root" >"$work/layer.tar" ;;
  *) tar --create --directory "$root" --sort=name --numeric-owner --owner 0 --group 0 --mtime @0 . >"$work/layer.tar" ;;
esac
case $architecture in
  aarch64) architecture=arm64 ;;
  x86_64) architecture=amd64 ;;
esac
digest=$(sha256sum "$work/layer.tar" | cut -d ' ' -f 1)
printf '{"architecture":"%s","os":"linux","created":"1970-01-01T00:00:00Z","rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"config":%s}' \
  "$architecture" "$digest" "$config" >"$work/config.json"
printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$name" >"$work/manifest.json"
tar --create --directory "$work" --file "$out" --numeric-owner --owner 0 --group 0 --mtime @0 \
  config.json layer.tar manifest.json
