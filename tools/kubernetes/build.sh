#!/usr/bin/env bash
# Builds the programs of a cluster (programs/) from the sources of their modules, once for each state of those files, and
# prints the folder that has them.
#
#   tools/kubernetes/build.sh [helm]
#
# With `helm` that one alone, about a minute, which is built first in any case. Needs Go 1.24, or one of at least 1.21 that
# may fetch it. Two cores need five minutes, so a machine with other things to do starts it first and in the background:
# whoever calls it meanwhile waits here for the same build.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

PATH=$PATH:/usr/local/go/bin

version_of() { # module
  sed -nE "s#^\s*$1 v([0-9.]+)( .*)?\$#\1#p" "$sources/go.mod"
}

# Without a version the server calls itself v0.0.0, and no chart that asks for a version goes in.
version_flags() {
  local kubernetes minor package
  kubernetes=$(version_of k8s.io/kubernetes)
  minor=${kubernetes#1.}
  minor=${minor%%.*}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- '-X %s.%s ' "$package" "gitVersion=v$kubernetes" "$package" gitMajor=1 "$package" "gitMinor=$minor" \
      "$package" gitCommit=0000000000000000000000000000000000000000 "$package" gitTreeState=clean
  done
  printf -- '-X %s ' "helm.sh/helm/v3/internal/version.version=v$(version_of helm.sh/helm/v3)" \
    helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$minor"
}

build_into() { # folder package…
  local folder=$1
  shift
  # One at a time builds the same.
  exec 9>"$folder.lock"
  flock 9
  [ ! -e "$folder" ] || return 0
  command -v go >/dev/null || refuse 'its programs are not built, and there is no Go to build them.'
  echo "building ${folder##*/}" >&2
  # Beside its place, and moved there when it is whole.
  work=$(mktemp -d "$cache/building-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  (cd "$sources" && GOFLAGS=-buildvcs=false CGO_ENABLED=0 nice -n 10 go build -trimpath -gcflags=all=-dwarf=false \
    -ldflags "-s -w $(version_flags)" -o "$work/" "$@")
  chmod 755 "$work"
  mv "$work" "$folder"
}

main() {
  mkdir -p "$cache"
  [ -e "$programs" ] || build_into "$helm_programs" helm.sh/helm/v3/cmd/helm
  if [ "${1:-}" = helm ] && [ ! -e "$programs" ]; then
    echo "$helm_programs"
    return
  fi
  build_into "$programs" tool ./...
  echo "$programs"
}

main "$@"
