#!/usr/bin/env bash
# Holds a cluster in FOLDER until SIGTERM or Ctrl-C, and leaves nothing of it. Where another is held it waits for its turn.
# One whose holder was killed is ended first; one that nobody holds (up.sh by hand) is left alone, and said.
#
#   tools/kubernetes/hold.sh FOLDER [--in-memory]     FOLDER/ready is there when Pods can be started
set -uo pipefail
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

folder='' must_end=''

end_forgotten() {
  local other='' holder=''
  [ ! -e "$CLUSTER_NOTE" ] || read -r other holder <"$CLUSTER_NOTE"
  if [ -n "$holder" ]; then "$scripts/down.sh" "$other" --purge; fi
}

# All of it is one function, so that the file may be replaced while it runs.
main() {
  [ $# -eq 1 ] || [ "$*" = "$1 --in-memory" ] || { echo "Usage: $0 FOLDER [--in-memory]" >&2; exit 2; }
  mkdir -p "$1"
  local idle
  folder=$(cd "$1" && pwd -P)
  trap 'must_end=yes' TERM INT HUP
  exec 9>"$CLUSTER_LOCK"
  # In pieces, so that who gives up waiting is heard.
  until flock --wait 1 9; do [ -z "$must_end" ] || exit 0; done
  end_forgotten
  trap 'rm -f "$folder/ready"; "$scripts/down.sh" "$folder" --purge' EXIT
  # In a session of its own: Ctrl-C must not end it half way.
  BERTH_CLUSTER_HOLDER=$$ setsid --wait "$scripts/up.sh" "$folder" "${@:2}" 9>&- || exit 1
  [ -n "$must_end" ] || touch "$folder/ready"
  while [ -z "$must_end" ]; do
    sleep infinity 9>&- &
    idle=$!
    wait "$idle"
    kill "$idle" 2>/dev/null
  done
}

main "$@"
