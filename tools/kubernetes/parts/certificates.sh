# shellcheck shell=bash disable=SC2154
# The cluster's authority and who it vouches for; sourced by up.sh.

pki=$folder/pki

certify() { # name subject [alternative names]
  [ ! -s "$pki/$1.crt" ] || return 0
  local names=()
  [ $# -lt 3 ] || names=(-addext "subjectAltName=$3")
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "$2" \
    -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -keyout "$pki/$1.key" -out "$pki/$1.crt" \
    -addext basicConstraints=critical,CA:FALSE -addext extendedKeyUsage=serverAuth,clientAuth "${names[@]}" 2>/dev/null
}

# How a program finds the API, as whom.
write_kubeconfig() { # file certificate
  cat >"$1" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "https://$NODE_ADDRESS:6443", certificate-authority: $pki/ca.crt}}]
users: [{name: me, user: {client-certificate: $pki/$2.crt, client-key: $pki/$2.key}}]
contexts: [{name: local, context: {cluster: local, user: me}}]
current-context: local
YAML
}

make_certificates() {
  local dns=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
  if [ ! -s "$pki/ca.crt" ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=kube-ca \
      -keyout "$pki/ca.key" -out "$pki/ca.crt" -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature 2>/dev/null
    openssl ecparam -name prime256v1 -genkey -noout -out "$pki/sa.key"
    openssl ec -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null
  fi
  certify apiserver /CN=kube-apiserver "IP:$NODE_ADDRESS,IP:127.0.0.1,IP:$API_SERVICE_ADDRESS,$dns,DNS:kubernetes.default.svc.cluster.local"
  certify kubelet "/O=system:nodes/CN=system:node:$NODE_NAME" "IP:$NODE_ADDRESS,DNS:$NODE_NAME"
  certify apiserver-kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  certify admin /O=system:masters/CN=admin
  certify controllers /CN=system:kube-controller-manager
  certify scheduler /CN=system:kube-scheduler
  certify front-proxy /CN=front-proxy
  certify proxy /CN=system:kube-proxy
  write_kubeconfig "$folder/admin.conf" admin
  for name in controllers scheduler proxy kubelet; do write_kubeconfig "$folder/conf/$name.conf" "$name"; done
}
