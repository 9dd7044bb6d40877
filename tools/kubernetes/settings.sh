# shellcheck shell=bash disable=SC2034
# What the scripts of this folder agree on; sourced, never run.

# Every address and name is fixed: one cluster at a time on a machine.
NAMESPACE=kube
NODE_NAME=node1
MACHINE_ADDRESS=10.199.0.1
NODE_ADDRESS=10.199.0.2
POD_NETWORK=10.244.0.0/24
SERVICE_NETWORK=10.96.0.0/16
API_SERVICE_ADDRESS=10.96.0.1
PAUSE_IMAGE=localhost/pause:1
MEMORY_LEAST_GIB=8

# Says which cluster is here: its folder and, where somebody holds it, the pid of who does.
CLUSTER_NOTE=/run/berth-kubernetes
CLUSTER_LOCK=/run/berth-kubernetes.lock

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sources=$scripts/programs
# Outside the clone, so that the next one finds them.
cache=${BERTH_KUBERNETES_CACHE:-$HOME/.cache/berth/kubernetes}
# By all that says how they are built.
programs=$cache/$(cat "$sources"/go.{mod,sum} "$sources"/*/main.go "$scripts/build.sh" | sha256sum | cut -c1-16)-$(uname -m)
helm_programs=$programs-helm
PATH=$PATH:/usr/sbin:/sbin

refuse() {
  echo "No cluster: $1"
  exit 1
}
