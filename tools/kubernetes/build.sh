#!/usr/bin/env bash
# Builds the programs of a cluster from the sources of the Go modules, once for each set of versions, and prints the folder
# that has them.
#
#   tools/kubernetes/build.sh [helm | built]
#
# `built` builds nothing, and says where nothing is built.
# With `helm` that one alone, a minute or two, which is built first in any case. Needs Go 1.24, or one of at least 1.21 that
# may fetch it. Two cores need ten minutes, so a machine with other things to do starts it first and in the background:
# whoever calls it meanwhile waits here for the same build.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

components=(kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl)
minor=${KUBERNETES_VERSION#1.}
minor=${minor%%.*}
PATH=$PATH:/usr/local/go/bin

build() { # output package linker-flags
  echo "building ${1##*/}" >&2
  nice -n 10 go build -trimpath -o "$work/$1" -ldflags "-s -w ${3:-}" "$2"
}

# The published module has `replace` lines, with which nothing of it can be installed by name: they name folders of its own
# sources. So a module of ours requires it, and puts the published ones in their place: those that it has at v0.0.0.
build_kubernetes() {
  local module package flags=''
  mkdir "$work/kubernetes" && cd "$work/kubernetes"
  printf 'module cluster\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v%s\n' "$KUBERNETES_VERSION" >go.mod
  module=$(go mod download -json "k8s.io/kubernetes@v$KUBERNETES_VERSION" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  sed -nE 's#^\s*(k8s.io/[a-z-]+) v0\.0\.0$#\1#p' "$module" | sort -u |
    sed "s#.*#replace & => & v0.${KUBERNETES_VERSION#1.}#" >>go.mod
  # Named before the graph is made, or their own needs are not in it.
  {
    printf '//go:build tools\n\npackage cluster\n\nimport (\n'
    printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "${components[@]}"
    printf ')\n'
  } >tools.go
  go mod tidy -e 2>"$work/tidy.log" || { cat "$work/tidy.log" >&2; return 1; }
  # Without a version the server calls itself v0.0.0, and no chart that asks for a version goes in.
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=v$KUBERNETES_VERSION -X $package.gitMajor=1 -X $package.gitMinor=$minor"
    flags+=" -X $package.gitCommit=0000000000000000000000000000000000000000 -X $package.gitTreeState=clean"
  done
  for component in "${components[@]}"; do build "$component" "k8s.io/kubernetes/cmd/$component" "$flags"; done
}

# A program that is nothing but a call of what its module offers.
build_main() { # name module version, the program on standard input
  mkdir "$work/$1-source" && cd "$work/$1-source"
  printf 'module cluster\n\ngo 1.24.0\n\nrequire %s %s\n' "$2" "$3" >go.mod
  cat >main.go
  go mod tidy 2>"$work/tidy.log" || { cat "$work/tidy.log" >&2; return 1; }
  build "$1" .
}

build_etcd() {
  build_main etcd go.etcd.io/etcd/server/v3 "v$ETCD_VERSION" <<'GO'
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
GO
}

# Only with the plugins that are used: its own program has the clients of three clouds in it.
build_coredns() {
  build_main coredns github.com/coredns/coredns "v$COREDNS_VERSION" <<'GO'
package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() { coremain.Run() }
GO
}

build_helm() {
  local version=helm.sh/helm/v3/internal/version.version kube=helm.sh/helm/v3/pkg/chartutil
  echo 'building helm' >&2
  GOBIN=$work nice -n 10 go install -trimpath \
    -ldflags "-s -w -X $version=v$HELM_VERSION -X $kube.k8sVersionMajor=1 -X $kube.k8sVersionMinor=$minor" \
    "helm.sh/helm/v3/cmd/helm@v$HELM_VERSION"
}

# The first process of every Pod: holds its namespaces, and takes leave of whatever there ends without a parent.
build_pause() {
  mkdir "$work/pause-source" && cd "$work/pause-source"
  printf 'module pause\n\ngo 1.24.0\n' >go.mod
  cat >main.go <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGINT, syscall.SIGTERM)
	for each := range signals {
		if each != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
GO
  build pause .
}

# Built once, also where who needs Helm alone does not wait for the rest.
build_copy_of_helm() {
  cp "$helm_programs/helm" "$work/"
}

build_into() { # folder part…
  local folder=$1 part
  shift
  # One at a time builds the same.
  exec 9>"$folder.lock"
  flock 9
  [ ! -e "$folder" ] || return 0
  command -v go >/dev/null || refuse 'its programs are not built, and there is no Go to build them.'
  export GOFLAGS=-buildvcs=false CGO_ENABLED=0
  # Beside its place, and moved there when it is whole.
  work=$(mktemp -d "$cache/building-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  for part in "$@"; do (build_"$part"); done
  rm -rf "$work"/kubernetes "$work"/*-source "$work/tidy.log"
  chmod 755 "$work"
  mv "$work" "$folder"
}

main() {
  if [ "${1:-}" = built ]; then
    [ -e "$programs" ] || refuse "its programs are not built in $cache."
    return
  fi
  mkdir -p "$cache"
  [ -e "$programs" ] || build_into "$helm_programs" helm
  if [ "${1:-}" = helm ] && [ ! -e "$programs" ]; then
    echo "$helm_programs"
    return
  fi
  build_into "$programs" kubernetes etcd coredns copy_of_helm pause
  echo "$programs"
}

main "$@"
