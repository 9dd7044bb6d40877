#!/usr/bin/env bash
# Installs what a cluster needs beside its own programs, from Debian's packages. Does nothing where all of it is there, and
# starts nothing. Needs root.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

# program:package
needed=(containerd:containerd ctr:containerd runc:runc /usr/lib/cni/bridge:containernetworking-plugins
  iptables:iptables ip:iproute2 nsenter:util-linux openssl:openssl busybox:busybox-static)

missing=()
for pair in "${needed[@]}"; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo 'What a cluster needs is installed.'
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "Install ${missing[*]} in this system's own way: there is no apt-get." >&2
  exit 1
fi

# Debian starts a service as soon as it is installed, unless this file forbids it.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi

mapfile -t packages < <(printf '%s\n' "${missing[@]}" | sort -u)
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet --quiet
apt-get install --yes --quiet --quiet --no-install-recommends "${packages[@]}" >/dev/null
echo "Installed ${packages[*]}."
