#!/usr/bin/env bash
# Ends the cluster in FOLDER: Pods, daemons, mounts, network. Its objects and images stay for the next up.sh, unless
# --purge, after which nothing of it is left. Every step may have been done already.
#
#   tools/kubernetes/down.sh FOLDER [--purge]
set -uo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

[ $# -ge 1 ] && [ $# -le 2 ] && [ "${2:---purge}" = --purge ] || { echo "Usage: $0 FOLDER [--purge]" >&2; exit 2; }
[ -d "$1" ] || exit 0
folder=$(cd "$1" && pwd -P)
must_purge=${2:-}
# shellcheck source-path=SCRIPTDIR
source "$scripts/parts/daemons.sh"

end_pods() {
  local task call=(timeout 20 ctr --address "$folder/run/containerd.sock" --namespace k8s.io)
  [ -S "$folder/run/containerd.sock" ] && [ -e "$folder/pid/containerd" ] || return 0
  for task in $("${call[@]}" tasks ls -q 2>/dev/null); do "${call[@]}" tasks kill -a -s SIGKILL "$task" 2>/dev/null; done
  for task in $("${call[@]}" tasks ls -q 2>/dev/null); do "${call[@]}" tasks rm -f "$task" >/dev/null 2>&1; done
  for task in $("${call[@]}" containers ls -q 2>/dev/null); do "${call[@]}" containers rm "$task" >/dev/null 2>&1; done
}

# What containerd started and left behind names its socket.
end_shims() {
  local process
  for process in /proc/[0-9]*; do
    command_of "${process#/proc/}" | grep -q -- "^[^ ]*containerd-shim-runc-v2 .*-address $folder/run/containerd.sock" &&
      kill -KILL "${process#/proc/}"
  done
}

unmount_all() {
  local mount
  awk -v prefix="$folder/" 'index($5, prefix) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r mount; do
    umount --lazy "$mount" 2>/dev/null
  done
}

# With the namespace go its links, bridges and firewall rules.
remove_network() {
  [ -e "/run/netns/$NAMESPACE" ] || return 0
  ip route del "$SERVICE_NETWORK" via "$NODE_ADDRESS" 2>/dev/null
  ip route del "$POD_NETWORK" via "$NODE_ADDRESS" 2>/dev/null
  ip netns del "$NAMESPACE"
  ip link del kube0 2>/dev/null
}

remove_control_groups() {
  local hierarchy
  for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
    [ ! -d "$hierarchy/kubepods" ] || find "$hierarchy/kubepods" -depth -type d -exec rmdir {} + 2>/dev/null
  done
}

# Places that the kubelet and the network plugins use whatever they are told.
remove_fixed_places() {
  find /var/log/containers -maxdepth 1 -type l -lname "$folder/*" -delete 2>/dev/null
  rm -f /var/lib/kubelet/device-plugins/kubelet.sock /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint
  rm -rf /var/lib/cni/results
  rmdir /var/log/containers /var/lib/kubelet/device-plugins /var/lib/kubelet /var/lib/cni 2>/dev/null
  [ -z "$must_purge" ] || rm -rf /tmp/hostpath_pv
}

other=''
[ ! -e "$CLUSTER_NOTE" ] || read -r other _ <"$CLUSTER_NOTE"
if [ "$other" = "$folder" ]; then
  stop_daemons TERM kubelet kube-proxy coredns kube-scheduler kube-controller-manager
  end_pods
  stop_daemons TERM containerd
  end_shims
  stop_daemons KILL kube-apiserver
  stop_daemons TERM etcd
  unmount_all
  remove_network
  remove_control_groups
  remove_fixed_places
fi
if awk -v prefix="$folder/" 'index($5, prefix) == 1 { found = 1 } END { exit !found }' /proc/self/mountinfo; then
  echo "Something below $folder is still mounted; nothing there was removed." >&2
  exit 1
fi
[ "$other" != "$folder" ] || rm -f "$CLUSTER_NOTE"
rm -rf "${folder:?}"/{run,kubelet,pid,ready}
if [ -n "$must_purge" ]; then
  rm -rf "${folder:?}"/{etcd,containerd,log,pki,conf,cni,opt,admin.conf}
  # Only where nothing else is in it.
  rmdir "$folder" 2>/dev/null
fi
exit 0
