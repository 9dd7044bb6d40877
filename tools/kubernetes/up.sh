#!/usr/bin/env bash
# Starts a real cluster of one node in FOLDER, or what of it does not run, and returns when Pods can be started. Needs root.
#
#   tools/kubernetes/up.sh FOLDER [--in-memory]   then: KUBECONFIG=FOLDER/admin.conf "$(tools/kubernetes/build.sh)/kubectl" get nodes
#   tools/kubernetes/down.sh FOLDER               stops it and keeps objects and images; with --purge nothing of it is left
#
# --in-memory: images, and what containers write, are in memory and gone at the end; on disk all the same where less than
# MEMORY_LEAST_GIB are free.
#
# One at a time on a machine: every address is fixed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

[ $# -eq 1 ] || [ "$*" = "$1 --in-memory" ] || { echo "Usage: $0 FOLDER [--in-memory]" >&2; exit 2; }
"$scripts/available.sh" >&2
"$scripts/build.sh" >/dev/null
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)

claim() {
  local other=''
  [ ! -e "$CLUSTER_NOTE" ] || read -r other _ <"$CLUSTER_NOTE"
  if [ -n "$other" ] && [ "$other" != "$folder" ]; then
    echo "Another cluster is here, in $other: tools/kubernetes/down.sh ends it." >&2
    exit 1
  fi
  printf '%s %s\n' "$folder" "${BERTH_CLUSTER_HOLDER:-}" >"$CLUSTER_NOTE"
}

claim
mkdir -p "$folder"/{pki,log,pid,run,cni,conf}
mkdir -p "$folder/etcd" && chmod 700 "$folder/etcd"
for part in daemons certificates control-plane node; do
  # shellcheck source=/dev/null
  source "$scripts/parts/$part.sh"
done
kube() { KUBECONFIG=$folder/admin.conf "$programs/kubectl" --request-timeout=5s "$@"; }

make_network
make_certificates
start_api
[ $# -eq 1 ] || keep_images_in_memory
start_containerd
until_ready 'the API' 90 kube get --raw /readyz
start_controllers
start_kubelet
start_proxy
start_dns
until_ready 'the node' 60 kube wait --for=condition=Ready "node/$NODE_NAME" --timeout=1s
# Pods are refused before it is there.
until_ready 'the default service account' 30 kube --namespace default get serviceaccount default
# Volumes that are folders of the machine: the controllers' own, for tests.
kube apply --filename - >/dev/null <<'YAML'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: hostpath, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/host-path
YAML
echo "KUBECONFIG=$folder/admin.conf"
