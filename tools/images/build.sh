#!/usr/bin/env bash
# Builds images in the engine of DOCKER_HOST from this working tree, and prints the size of each.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$repository"

ours=(berth management-api job-router worker-agent nats-server)
samples=()
for folder in examples/workers/*/; do samples+=("$(basename "$folder")"); done

usage() {
  local known
  known=$(printf '%s, ' "${ours[@]}" "${samples[@]}")
  cat <<USAGE
Builds images in the engine of DOCKER_HOST from this working tree, and prints the size of each.

  tools/images/build.sh [--no-registry | --packed] [--platform linux/amd64 | linux/arm64] [NAME …]

NAME: ${known%, }; without one, all of them.
Ours become berth/NAME:VERSION, samples of workers local/NAME:latest.

--no-registry  no image is pulled: the bases are made here, of Debian's mirror and npm's registry. As root, on Debian,
               after \`npm ci\` and tools/engine/install-engine.sh.
--packed       nothing is pulled, installed, compiled or fetched for ours and for node-*: what this repository has
               installed and built goes into them, so that it takes seconds. For tests, and for nobody else.
--platform     for another architecture than this machine's. All that a build runs is then emulated, which takes many times
               as long; on Debian \`apt-get install qemu-user-static\` brings the emulator. Tags are the same.
USAGE
}

refuse() { # why
  printf '%s\n\n' "$1" >&2
  usage >&2
  exit 2
}

require_engine() {
  local said
  if ! command -v docker >/dev/null; then
    echo "There is no \`docker\`. Install Docker Engine (https://docs.docker.com/engine/install); on Debian, as root," \
      'tools/engine/install-engine.sh installs its package.' >&2
    exit 1
  fi
  if ! said=$(docker version 2>&1 >/dev/null); then
    printf '%s\n' "No container engine answers at ${DOCKER_HOST:-the usual place}: $said" \
      'Start it (systemctl start docker), let this user reach it (usermod --append --groups docker USER, and a new login),' \
      'or name another one in DOCKER_HOST.' >&2
    exit 1
  fi
}

require_emulator() { # machine
  grep -qsx enabled "/proc/sys/fs/binfmt_misc/qemu-$1" ||
    lacks="an emulator of $1 that the kernel knows: \`apt-get install qemu-user-static\`"
}

require_for_bases() {
  local lacks=''
  [ -x node_modules/node/bin/node ] || lacks='the packages of this repository: `npm ci`'
  PATH=$PATH:/usr/sbin command -v debootstrap >/dev/null || lacks='debootstrap: tools/engine/install-engine.sh installs it'
  [ "$(id -u)" = 0 ] || lacks='root'
  case $architecture in
    "$own") ;;
    amd64) require_emulator x86_64 ;;
    arm64) require_emulator aarch64 ;;
  esac
  [ -z "$lacks" ] || { echo "--no-registry needs $lacks." >&2; exit 1; }
}

mode='' platform='' names=()
while [ $# -gt 0 ]; do
  word=$1
  shift
  case $word in
    --help | -h) usage; exit 0 ;;
    --no-registry | --packed) mode=$word ;;
    --platform)
      [[ ${1:-} =~ ^linux/(amd64|arm64)$ ]] || refuse "There is no platform '${1:-}': linux/amd64, linux/arm64."
      platform=$1
      shift
      ;;
    -*) refuse "There is no option '$word'." ;;
    *)
      [[ " ${ours[*]} ${samples[*]} " == *" $word "* ]] || refuse "There is no image '$word'."
      names+=("$word")
      ;;
  esac
done
[ "$mode" != --packed ] || [ -z "$platform" ] || refuse '--packed builds for this machine alone.'
[ ${#names[@]} -gt 0 ] || names=("${ours[@]}" "${samples[@]}")
require_engine
if [ "$mode" = --no-registry ]; then
  own=$(dpkg --print-architecture)
  architecture=${platform#linux/}
  architecture=${architecture:-$own}
  require_for_bases
fi

read_field() { sed -n "s/^  \"$1\": \"\(.*\)\",$/\1/p" package.json; }
version=$(read_field version)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain 2>/dev/null)" ] || revision=$revision-dirty
# A path of this machine is nobody else's source.
source=$(git config --get remote.origin.url || true)
[[ $source == https://* ]] || source=unknown

bases=() python_base=() packed=
if [ "$mode" = --no-registry ]; then
  tools/images/stand-ins.sh "$architecture" >&2
  suffix=
  [ "$architecture" = "$own" ] || suffix=-$architecture
  node_base=berth/node-base:$(cat .nvmrc)$suffix
  debian_base=berth/debian-base:bookworm$suffix
  python_base=(--build-arg "BASE=berth/python-base:bookworm$suffix" --build-arg "PYTHON_IMAGE=berth/python-base:bookworm$suffix")
  bases=(--build-arg "NODE_IMAGE=$node_base" --build-arg "RUNTIME_IMAGE=$debian_base")
elif [ "$mode" = --packed ]; then
  packed=$(mktemp -d "${TMPDIR:-/tmp}/berth-packed-XXXXXX")
  trap 'rm -rf "$packed"' EXIT
  node_base=berth/node-packed:1
  python_base=(--build-arg BASE=berth/python-base:bookworm)
  bases=(--build-arg "NODE_IMAGE=$node_base" --build-arg RUNTIME_IMAGE=berth/python-base:bookworm)
fi
[ -z "$packed" ] || tools/images/pack.sh "$packed" "${names[@]}"

# tag folder [options …]
build() {
  local log
  log=$(mktemp "${TMPDIR:-/tmp}/berth-build-XXXXXX")
  if ! tools/engine/build-image.sh "$@" ${platform:+--platform "$platform"} >"$log" 2>&1; then
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
