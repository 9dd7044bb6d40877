#!/usr/bin/env bash
# Builds images in the engine of DOCKER_HOST from this working tree, and prints the size of each.
#
#   tools/images/build.sh [--no-registry | --packed] [NAME …]
#
# NAME: berth, management-api, job-router, worker-agent, nats-server, or a folder of examples/workers; without one, all of
# them. They become berth/NAME:VERSION and, samples, local/NAME:latest.
# --no-registry: no image is pulled; stand-ins.sh makes the bases.
# --packed: nothing is pulled, installed, compiled or fetched for ours and for node-*: what this repository has installed
# and built goes into them, so that it takes seconds. For tests, and for nobody else.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$repository"

read_field() { sed -n "s/^  \"$1\": \"\(.*\)\",$/\1/p" package.json; }
version=$(read_field version)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain 2>/dev/null)" ] || revision=$revision-dirty
# A path of this machine is nobody else's source.
source=$(git config --get remote.origin.url || true)
[[ $source == https://* ]] || source=unknown

bases=() python_base=() packed=
if [ "${1:-}" = --no-registry ]; then
  shift
  tools/images/stand-ins.sh >&2
  node_base=berth/node-base:$(cat .nvmrc)
  debian_base=berth/debian-base:bookworm
  python_base=(--build-arg BASE=berth/python-base:bookworm --build-arg PYTHON_IMAGE=berth/python-base:bookworm)
  bases=(--build-arg "NODE_IMAGE=$node_base" --build-arg "RUNTIME_IMAGE=$debian_base")
elif [ "${1:-}" = --packed ]; then
  shift
  packed=$(mktemp -d "${TMPDIR:-/tmp}/berth-packed-XXXXXX")
  trap 'rm -rf "$packed"' EXIT
  node_base=berth/node-packed:1
  python_base=(--build-arg BASE=berth/python-base:bookworm)
  bases=(--build-arg "NODE_IMAGE=$node_base" --build-arg RUNTIME_IMAGE=berth/python-base:bookworm)
fi
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  names=(berth management-api job-router worker-agent nats-server)
  for folder in examples/workers/*/; do names+=("$(basename "$folder")"); done
fi

[ -z "$packed" ] || tools/images/pack.sh "$packed" "${names[@]}"

# tag folder [options …]
build() {
  local log
  log=$(mktemp "${TMPDIR:-/tmp}/berth-build-XXXXXX")
  if ! tools/engine/build-image.sh "$@" >"$log" 2>&1; then
    tail -40 "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
  docker image inspect --format '{{index .RepoTags 0}} {{.Size}}' "$1" | awk '{ printf "%-36s %4d MB\n", $1, $2 / 1000000 }'
}

labels=(--build-arg "REVISION=$revision" --build-arg "SOURCE=$source")
for name in "${names[@]}"; do
  case $name in
    nats-server)
      [ -z "$packed" ] || { build "berth/$name:$version" "$packed/$name" "${bases[@]}" "${labels[@]}"; continue; }
      build "berth/nats-server:$version" deploy/docker -f deploy/docker/nats-server.Dockerfile "${bases[@]}" "${python_base[@]}" "${labels[@]}"
      ;;
    node-*) build "local/$name:latest" "examples/workers/$name" ${node_base:+--build-arg "BASE=$node_base"} ;;
    python-*) build "local/$name:latest" "examples/workers/$name" "${python_base[@]}" ;;
    *)
      if [ -n "$packed" ]; then
        build "berth/$name:$version" "$packed/$name" --build-arg "APP=$name" --build-arg "VERSION=$version" "${bases[@]}" "${labels[@]}"
        continue
      fi
      build "berth/$name:$version" . -f deploy/docker/Dockerfile --build-arg "APP=$name" --build-arg "VERSION=$version" \
        "${bases[@]}" "${labels[@]}"
      ;;
  esac
done
