#!/usr/bin/env bash
# Puts the images of an archive, as image.sh or `docker save` makes it, into the node of the cluster in FOLDER.
#
#   tools/kubernetes/load-image.sh FOLDER ARCHIVE
set -euo pipefail

[ $# -eq 2 ] || { echo "Usage: $0 FOLDER ARCHIVE" >&2; exit 2; }
exec ctr --address "$1/run/containerd.sock" --namespace k8s.io images import "$2" >/dev/null
