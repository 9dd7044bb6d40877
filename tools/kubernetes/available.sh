#!/usr/bin/env bash
# Succeeds where up.sh can run, though its programs may have to be built first; otherwise prints the reason and fails.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

[ "$(uname -s)" = Linux ] || refuse 'it needs Linux.'
[ "$(id -u)" = 0 ] || refuse 'it needs root.'
for program in containerd ctr runc iptables ip nsenter openssl busybox /usr/lib/cni/bridge; do
  command -v "$program" >/dev/null || refuse "$program is missing; tools/kubernetes/install-packages.sh installs it."
done
unshare --mount --net true 2>/dev/null || refuse 'this machine allows no new namespaces.'
[ -w /sys/fs/cgroup ] || refuse 'the control groups cannot be written.'
[ -d "$programs" ] || PATH=$PATH:/usr/local/go/bin command -v go >/dev/null ||
  refuse 'its programs are not built, and there is no Go to build them.'
