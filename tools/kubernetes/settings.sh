# shellcheck shell=bash disable=SC2034
# What the scripts of this folder agree on; sourced, never run.

KUBERNETES_VERSION=1.34.2
ETCD_VERSION=3.6.5
HELM_VERSION=3.19.0
COREDNS_VERSION=1.12.4
# Goes up with every change of how build.sh builds.
BUILD_RECIPE=1

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
build_key=$KUBERNETES_VERSION-$ETCD_VERSION-$HELM_VERSION-$COREDNS_VERSION-$BUILD_RECIPE-$(uname -m)
cache=${BERTH_KUBERNETES_CACHE:-$(cd "$scripts/../.." && pwd)/.cache/kubernetes}
programs=$cache/$build_key
helm_programs=$cache/helm-$HELM_VERSION-$(uname -m)
PATH=$PATH:/usr/sbin:/sbin

refuse() {
  echo "No cluster: $1"
  exit 1
}
