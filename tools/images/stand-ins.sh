#!/usr/bin/env bash
# Makes the base images in the engine of DOCKER_HOST that no registry gives: berth/debian-base:bookworm and
# berth/python-base:bookworm from Debian's mirror, and berth/node-base:VERSION, the first with the pinned Node.js and npm,
# both from npm's registry. Needs what tools/engine/install-engine.sh installs, root, and this repository's packages.
#
#   tools/images/stand-ins.sh [amd64 | arm64]       of another architecture than this machine's, tags end in it
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# The release that the lock file was written by; it only installs packages while images are built.
npm_version=11.19.1
npm_integrity=sha512-ztsxKxt/kkIaAs+2i0GU6I+DRmUdrNasxTZKJe9TCdSjKxlhah/4r/hl5ygMD6XAg1qZ9c2TNomR4qgOydp10g==

# Of the Node.js of .nvmrc, for where the one that is installed here is of another architecture.
declare -A node_integrity=(
  [x64]=sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==
  [arm64]=sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==
)

own=$(dpkg --print-architecture)
architecture=${1:-$own}
suffix=
[ "$architecture" = "$own" ] || suffix=-$architecture
node_version=$(cat "$repository/.nvmrc")
image=berth/node-base:$node_version$suffix

"$repository/tools/engine/base-image.sh" debian "$architecture"
"$repository/tools/engine/base-image.sh" python "$architecture"

work=$(mktemp -d "${TMPDIR:-/tmp}/berth-node-base-XXXXXX")
trap 'rm -rf "$work"' EXIT

# package version integrity: writes package-version.tgz
fetch() {
  local packed
  packed=$(cd "$work" && npm pack --silent --json "$1@$2")
  [[ $packed == *"$3"* ]] || { echo "$1 $2 is not what it was." >&2; exit 1; }
}

fetch npm "$npm_version" "$npm_integrity"
mv "$work/npm-$npm_version.tgz" "$work/npm.tgz"
if [ -z "$suffix" ]; then
  cp "$repository/node_modules/node/bin/node" "$work/node"
else
  name=node-linux-${architecture/amd64/x64}
  fetch "$name" "$node_version" "${node_integrity[${name#node-linux-}]}"
  tar -xzf "$work/$name-$node_version.tgz" -C "$work" --strip-components 2 package/bin/node
fi
cat >"$work/Dockerfile" <<'DOCKERFILE'
ARG BASE
FROM ${BASE}
# Behind a proxy that signs for itself, what the system trusts counts.
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
COPY node /usr/local/bin/node
COPY npm.tgz /tmp/
RUN mkdir -p /usr/local/lib/node_modules/npm \
  && tar -xzf /tmp/npm.tgz --strip-components 1 -C /usr/local/lib/node_modules/npm \
  && rm /tmp/npm.tgz \
  && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
  && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
  && npm --version
CMD ["node"]
DOCKERFILE
"$repository/tools/engine/build-image.sh" "$image" "$work" --quiet --platform "linux/$architecture" \
  --build-arg "BASE=berth/debian-base:bookworm$suffix" >/dev/null
echo "$image is ready."
