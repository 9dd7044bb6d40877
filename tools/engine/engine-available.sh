#!/usr/bin/env bash
# Succeeds where start-engine.sh can run; otherwise prints the reason and fails.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

refuse() {
  echo "No container engine: $1"
  exit 1
}

[ "$(uname -s)" = Linux ] || refuse 'it needs Linux.'
[ "$(id -u)" = 0 ] || refuse 'it needs root.'
for program in dockerd docker iptables ip; do
  command -v "$program" >/dev/null || refuse "$program is missing; tools/engine/install-engine.sh installs it."
done
unshare --mount --net true 2>/dev/null || refuse 'this machine allows no new namespaces.'
[ -w /sys/fs/cgroup ] || refuse 'the control groups cannot be written.'
