#!/usr/bin/env bash
# Writes what build.sh --packed builds from: for each image of ours a folder with a Dockerfile, whose last stages are those
# of deploy/docker, and what the first ones would have made of the sources.
#
#   tools/images/pack.sh FOLDER NAME …
#
# Makes two images in the engine of DOCKER_HOST: berth/python-base:bookworm, which other suites have too, and
# berth/node-packed:1, which has this repository's Node.js besides.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
folder=$1
shift
cd "$repository"
node=node_modules/node/bin/node

# From the first stage that is made of the runtime's image to the end. What those copy from a stage that makes folders comes
# as an archive for each: thousands of small files then go into the engine once, and not six times.
last_stages() {
  awk '/^FROM \$\{RUNTIME_IMAGE\}/ { is_last = 1 } is_last' "$1" |
    sed "s#^COPY --from=$2 /image/*\([a-z]*\) \(.*\)#ADD image\1.tar \2/#"
}

# folder archive
archive() { tar --create --file "$2" --directory "$1" --numeric-owner --owner 0 --group 0 . && rm -rf "$1"; }

# name: what deploy/docker/Dockerfile makes of it in its stage `packages`
pack_app() {
  local to=$folder/$1
  mkdir -p "$to/image/berth" "$to/image/doc" "$to/deploy/docker"
  cp LICENSE "$to/image/doc/"
  "$node" deploy/docker/pack-app.mjs "$repository" "$1" "$to/image/berth" "$to/image/doc/sbom.cdx.json"
  if [ "$1" = management-api ]; then
    mkdir -p "$to/image/berth/docs/wire"
    cp -R docs/problems "$to/image/berth/docs/"
    cp docs/wire/job-openapi.json "$to/image/berth/docs/wire/"
  fi
  archive "$to/image/berth" "$to/imageberth.tar"
  archive "$to/image/doc" "$to/imagedoc.tar"
  cp deploy/docker/health.sh "$to/deploy/docker/"
  {
    # shellcheck disable=SC2016
    printf 'ARG NODE_IMAGE\nARG RUNTIME_IMAGE\nARG APP\nFROM ${NODE_IMAGE} AS build\n'
    last_stages deploy/docker/Dockerfile packages
  } >"$to/Dockerfile"
}

pack_broker() {
  local to=$folder/nats-server program
  # The one that tests run: of the release and the hash that the requirements name.
  program=$("$node" --input-type module --eval \
    "const { findNatsServer } = await import('@berth/servers'); console.log((await findNatsServer()).executable)")
  mkdir -p "$to/image/usr/local/bin"
  cp "$program" "$to/image/usr/local/bin/nats-server"
  archive "$to/image" "$to/image.tar"
  cp deploy/docker/nats-health.sh "$to/"
  {
    printf 'ARG RUNTIME_IMAGE\n'
    last_stages deploy/docker/nats-server.Dockerfile wheel
  } >"$to/Dockerfile"
}

make_bases() {
  tools/engine/base-image.sh python
  mkdir -p "$folder/node"
  cp "$node" "$folder/node/node"
  printf 'FROM berth/python-base:bookworm\nCOPY node /usr/local/bin/node\n' >"$folder/node/Dockerfile"
  tools/engine/build-image.sh berth/node-packed:1 "$folder/node" --quiet >/dev/null 2>&1
}

make_bases >&2
for name in "$@"; do
  case $name in
    nats-server) pack_broker ;;
    node-* | python-* | postgres-stand-in) ;;
    *) pack_app "$name" ;;
  esac
done
