#!/usr/bin/env bash
# Builds a Dockerfile in the engine of DOCKER_HOST with this machine's way to the package indexes.
#
#   tools/engine/build-image.sh TAG FOLDER [options of docker build …]
#
# Proxies and pip's settings are handed in as build arguments. Docker applies the proxies by itself; a Dockerfile that
# wants pip's settings declares them: ARG PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT.
# The steps run in the host's network, so that a name server or proxy on this machine's loopback is reached as well.
set -euo pipefail

[ $# -ge 2 ] || { echo "Usage: $0 TAG FOLDER [options …]" >&2; exit 2; }
tag=$1 folder=$2
shift 2

arguments=()
for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy \
  PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT; do
  # By name only: the value is taken from the environment and stays out of the process list.
  if [ -n "${!name:-}" ]; then arguments+=(--build-arg "$name"); fi
done

# The newer builder is a plug-in of the client, which may be missing; the older one is part of every engine.
docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0
exec docker build --network host --tag "$tag" "${arguments[@]}" "$@" "$folder"
