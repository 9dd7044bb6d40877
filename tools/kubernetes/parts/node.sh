# shellcheck shell=bash disable=SC2154
# The one node: its network, containerd, the kubelet and the proxy; sourced by up.sh.

# The node lives in a network namespace of its own. The machine reaches Pods and Services through one pair of links, and
# all that the node's programs make of networks and firewall rules goes with the namespace.
make_network() {
  if [ -e "/run/netns/$NAMESPACE" ]; then return; fi
  local inside=(nsenter --net="/run/netns/$NAMESPACE")
  ip netns add "$NAMESPACE"
  ip link add kube0 type veth peer name eth0 netns "$NAMESPACE"
  ip address add "$MACHINE_ADDRESS/30" dev kube0
  ip link set kube0 up
  "${inside[@]}" ip address add "$NODE_ADDRESS/30" dev eth0
  "${inside[@]}" ip link set eth0 up
  "${inside[@]}" ip link set lo up
  # What would leave the machine fails at once: with a way to nowhere each pull would wait for name servers.
  "${inside[@]}" ip route add unreachable default
  # Of the node itself, and of Pods in its network: a Service is found only on the way out, so there has to be one.
  "${inside[@]}" ip route add "$SERVICE_NETWORK" dev eth0
  ip route replace "$POD_NETWORK" via "$NODE_ADDRESS"
  ip route replace "$SERVICE_NETWORK" via "$NODE_ADDRESS"
  "${inside[@]}" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
    if [ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]; then echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables; fi'
}

# `restrict_oom_score_adj`: without CAP_SYS_RESOURCE, as in many sandboxes, no Pod would start.
write_containerd_conf() {
  cat >"$folder/conf/containerd.toml" <<TOML
version = 2
root = "$folder/containerd"
state = "$folder/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = "$folder/run/containerd.sock"
[ttrpc]
  address = "$folder/run/containerd.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "$folder/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$PAUSE_IMAGE"
  netns_mounts_under_state_dir = true
  enable_unprivileged_ports = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
TOML
  cat >"$folder/cni/10-bridge.conflist" <<JSON
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$folder/run/ipam", "ranges": [[{"subnet": "$POD_NETWORK"}]],
            "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
}

# Unmounted by down.sh, as all mounts below the folder are.
keep_images_in_memory() {
  local free_gib
  free_gib=$(awk '$1 == "MemAvailable:" { print int($2 / 1024 / 1024) }' /proc/meminfo)
  mkdir -p "$folder/containerd"
  if [ "$free_gib" -lt "$MEMORY_LEAST_GIB" ] || mountpoint --quiet "$folder/containerd"; then return; fi
  mount -t tmpfs -o mode=711 berth-images "$folder/containerd"
}

start_containerd() {
  local images
  images=(ctr --address "$folder/run/containerd.sock" --namespace k8s.io)
  [ "$(findmnt -no PROPAGATION /)" = shared ] || mount --make-rshared /
  write_containerd_conf
  start_daemon containerd /usr/bin/containerd --config "$folder/conf/containerd.toml"
  until_ready containerd 30 "${images[@]}" version
  if "${images[@]}" images ls -q | grep -qx "$PAUSE_IMAGE"; then return; fi
  mkdir -p "$folder/pause"
  cp "$programs/pause" "$folder/pause/pause"
  "$scripts/image.sh" "$folder/pause.tar" "$PAUSE_IMAGE" "$folder/pause" '{"Entrypoint":["/pause"],"User":"65535:65535"}'
  "${images[@]}" images import "$folder/pause.tar" >/dev/null
  # Nobody could pull it again, so the kubelet must not tidy it away.
  "${images[@]}" images label "$PAUSE_IMAGE" io.cri-containerd.image=managed io.cri-containerd.pinned=pinned >/dev/null
  rm -rf "$folder/pause" "$folder/pause.tar"
}

start_kubelet() {
  echo "nameserver $MACHINE_ADDRESS" >"$folder/conf/resolv.conf"
  cat >"$folder/conf/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$folder/run/containerd.sock
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
address: $NODE_ADDRESS
clusterDNS: [$NODE_ADDRESS]
clusterDomain: cluster.local
resolvConf: $folder/conf/resolv.conf
podLogsDir: $folder/log/pods
volumePluginDir: $folder/run/volumeplugins
# Images that came from no registry must stay, however full the disk is.
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 50Mi, nodefs.available: 1%, imagefs.available: 1%}
syncFrequency: 10s
fileCheckFrequency: 10s
YAML
  start_daemon kubelet "$programs/kubelet" --config="$folder/conf/kubelet.yaml" \
    --kubeconfig="$folder/conf/kubelet.conf" --root-dir="$folder/kubelet" \
    --hostname-override="$NODE_NAME" --node-ip="$NODE_ADDRESS"
}

start_proxy() {
  cat >"$folder/conf/proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: $NODE_NAME
clusterCIDR: $POD_NETWORK
clientConnection: {kubeconfig: $folder/conf/proxy.conf}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
YAML
  kube get clusterrolebinding kube-proxy >/dev/null 2>&1 ||
    kube create clusterrolebinding kube-proxy --clusterrole=system:node-proxier --user=system:kube-proxy >/dev/null
  start_daemon kube-proxy "$programs/kube-proxy" --config="$folder/conf/proxy.yaml"
}
