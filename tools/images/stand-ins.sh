#!/usr/bin/env bash
# Makes the base images in the engine of DOCKER_HOST that no registry gives: berth/debian-base:bookworm and
# berth/python-base:bookworm from Debian's mirror, and berth/node-base:VERSION, the first with the pinned Node.js and npm,
# both from npm's registry. Needs what tools/engine/install-engine.sh installs, root, and this repository's packages.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# The release that the lock file was written by; it only installs packages while images are built.
npm_version=11.19.1
npm_integrity=sha512-ztsxKxt/kkIaAs+2i0GU6I+DRmUdrNasxTZKJe9TCdSjKxlhah/4r/hl5ygMD6XAg1qZ9c2TNomR4qgOydp10g==

node=$repository/node_modules/node/bin/node
image=berth/node-base:$("$node" --version | cut -c 2-)

"$repository/tools/engine/base-image.sh" debian
"$repository/tools/engine/base-image.sh" python

work=$(mktemp -d "${TMPDIR:-/tmp}/berth-node-base-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$node" "$work/node"
packed=$(cd "$work" && npm pack --silent --json "npm@$npm_version")
if [[ $packed != *"$npm_integrity"* ]]; then
  echo "npm $npm_version is not what it was." >&2
  exit 1
fi
mv "$work/npm-$npm_version.tgz" "$work/npm.tgz"
cat >"$work/Dockerfile" <<'DOCKERFILE'
FROM berth/debian-base:bookworm
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
"$repository/tools/engine/build-image.sh" "$image" "$work" --quiet >/dev/null
echo "$image is ready."
