# shellcheck shell=bash disable=SC2154
# etcd, the API, the controllers and the scheduler; sourced by up.sh.

start_api() {
  start_daemon etcd "$programs/etcd" --name only --data-dir "$folder/etcd" \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster only=http://127.0.0.1:2380 --unsafe-no-fsync
  start_daemon kube-apiserver "$programs/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
    --advertise-address="$NODE_ADDRESS" --secure-port=6443 --service-cluster-ip-range="$SERVICE_NETWORK" \
    --allow-privileged=true --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
    --client-ca-file="$pki/ca.crt" --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local \
    --service-account-key-file="$pki/sa.pub" --service-account-signing-key-file="$pki/sa.key" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --kubelet-client-certificate="$pki/apiserver-kubelet-client.crt" \
    --kubelet-client-key="$pki/apiserver-kubelet-client.key" \
    --requestheader-client-ca-file="$pki/ca.crt" --requestheader-allowed-names=front-proxy \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$pki/front-proxy.crt" --proxy-client-key-file="$pki/front-proxy.key"
}

# With its usual 20 requests a second the controllers need five seconds before the first Pod is let in.
start_controllers() {
  local as
  as=(--kubeconfig="$folder/conf/controllers.conf" --authentication-kubeconfig="$folder/conf/controllers.conf"
    --authorization-kubeconfig="$folder/conf/controllers.conf")
  start_daemon kube-controller-manager "$programs/kube-controller-manager" "${as[@]}" --leader-elect=false \
    --use-service-account-credentials=true --service-account-private-key-file="$pki/sa.key" \
    --root-ca-file="$pki/ca.crt" --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" \
    --bind-address=127.0.0.1 --kube-api-qps=500 --kube-api-burst=500 --enable-hostpath-provisioner=true
  as=(--kubeconfig="$folder/conf/scheduler.conf" --authentication-kubeconfig="$folder/conf/scheduler.conf"
    --authorization-kubeconfig="$folder/conf/scheduler.conf")
  start_daemon kube-scheduler "$programs/kube-scheduler" "${as[@]}" --leader-elect=false --bind-address=127.0.0.1
}

start_dns() {
  cat >"$folder/conf/Corefile" <<CONF
.:53 {
  bind $NODE_ADDRESS
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $folder/admin.conf local
  }
  cache 5
}
CONF
  start_daemon coredns "$programs/coredns" -conf "$folder/conf/Corefile"
}
