#!/usr/bin/env bash
# Prints the path of a Docker Compose of the pinned version: this machine's plug-in, or one that Go makes of its source,
# once (.cache; two minutes).
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
version=2.40.3
kept=$repository/.cache/docker-compose-$version/docker-compose

for program in "$kept" /usr/libexec/docker/cli-plugins/docker-compose /usr/lib/docker/cli-plugins/docker-compose \
  "$HOME/.docker/cli-plugins/docker-compose"; do
  if [[ $("$program" version --short 2>/dev/null || true) = "$version" ]]; then
    echo "$program"
    exit 0
  fi
done
PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || { echo "Docker Compose $version is not here, nor Go to build it." >&2; exit 1; }
mkdir -p "${kept%/*}"
exec 9>"${kept%/*}/lock"
flock 9
if [ ! -x "$kept" ]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/berth-compose-XXXXXX")
  # Go's module cache is read-only, and so is what was copied from it.
  trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
  # Built within its own module, because `go install` refuses the replacements in it.
  source=$(go mod download -json "github.com/docker/compose/v2@v$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  cp -R "$source" "$work/source"
  chmod -R u+w "$work/source"
  (cd "$work/source" && CGO_ENABLED=0 nice -n 10 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$version" -o "$work/docker-compose" ./cmd) >&2
  mv "$work/docker-compose" "$kept"
fi
echo "$kept"
