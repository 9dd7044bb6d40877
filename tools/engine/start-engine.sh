#!/usr/bin/env bash
# Runs a private container engine in the foreground until SIGTERM or Ctrl-C.
#
#   tools/engine/start-engine.sh FOLDER [--in-memory]    then: DOCKER_HOST=unix://FOLDER/docker.sock docker run …
#
# --in-memory: what the engine keeps is in memory, where making the many small files of images takes a twentieth of the time,
# and is gone at the end; on disk all the same where less than MEMORY_LEAST_GIB are free.
#
# It shares nothing with an engine of the machine or with others of its kind: socket, images and state are in FOLDER; the
# bridge, the addresses, the firewall rules and the control groups are its own. At the end all of it is gone except the
# images in FOLDER/data, which the next start finds again. A start in a folder whose engine was killed tidies up first.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

MEMORY_LEAST_GIB=8

folder='' note='' daemon='' bridge='' pool=''

# Each rule once with -I and, to undo it, once with -D. The engine's own firewall handling (--iptables) is off, because it
# empties the chains of every other engine on the machine.
firewall() {
  local action=$1 name=$2 subnet=$3 pool=$4
  iptables --wait -t nat "$action" POSTROUTING -s "$subnet" ! -o "$name" -j MASQUERADE
  iptables --wait "$action" FORWARD -i "$name" -j ACCEPT
  iptables --wait "$action" FORWARD -o "$name" -j ACCEPT
  # Networks that somebody makes in the engine.
  iptables --wait -t nat "$action" POSTROUTING -s "$pool" ! -d "$pool" -j MASQUERADE
  iptables --wait "$action" FORWARD -s "$pool" -j ACCEPT
  iptables --wait "$action" FORWARD -d "$pool" -j ACCEPT
}

# An agent confines the containers of a network by rules that name its link; one that was killed left them.
forget_confinement() {
  local program rule chain
  for program in iptables ip6tables; do
    "$program" --wait -t mangle -S 2>/dev/null | awk -v link="$1" '$1 == "-A" && $3 == "-i" && $4 == link { $1 = "-D"; print }' |
      while read -r rule; do
        # shellcheck disable=SC2086
        "$program" --wait -t mangle $rule || true
      done
    for chain in "BERTH-${1#berthw-}" "BERTH-${1#berthw-}-COUNT"; do
      "$program" --wait -t mangle -F "$chain" 2>/dev/null || true
      "$program" --wait -t mangle -X "$chain" 2>/dev/null || true
    done
  done
}

# The name of a bridge is taken as a lock: `ip link add` fails for all but the first.
take_bridge() {
  local number
  for number in $(seq 0 99); do
    [ -z "$(ip -4 route show root "10.213.$number.0/24")" ] || continue
    ip link add name "berth$number" type bridge 2>/dev/null || continue
    bridge=berth$number
    local subnet=10.213.$number.0/24
    pool=10.214.$number.0/24
    printf '%s %s %s\n' "$bridge" "$subnet" "$pool" >"$note"
    ip address add "10.213.$number.1/24" dev "$bridge"
    ip link set "$bridge" up
    firewall -I "$bridge" "$subnet" "$pool"
    return
  done
  echo 'A hundred engines run here already.' >&2
  exit 1
}

# What the engine started: daemons and shims name its folder, containers are in its control groups.
processes_of() {
  # The pattern comes from a file, or grep would find itself.
  grep -lzF -f <(printf '%s' "$folder/exec") /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3 || true
  find /sys/fs/cgroup -path "*/$1/*" -name cgroup.procs -exec cat {} + 2>/dev/null || true
}

end_strays() {
  local pids
  for _ in $(seq 50); do
    pids=$(processes_of "$1" | sort -un)
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
    sleep 0.1
  done
  echo "Some processes of the engine in $folder do not end: $pids" >&2
}

# Undoes whatever the note says was done; every step may have been done already.
tidy() {
  [ -e "$note" ] || return 0
  local name subnet pool mount link
  read -r name subnet pool <"$note"
  end_strays "$name"
  awk -v prefix="$folder/" 'index($5, prefix) == 1 { print $5 }' /proc/self/mountinfo | tac | while read -r mount; do
    umount --lazy "$mount" || true
  done
  firewall -D "$name" "$subnet" "$pool" 2>/dev/null || true
  # Networks that somebody made have bridges too; their addresses come from the engine's own pool.
  ip -oneline -4 address show | awk -v start="${pool%0/24}" 'index($4, start) == 1 { print $2 }' | while read -r link; do
    forget_confinement "$link"
    ip link delete "$link" || true
  done
  ip link delete "$name" 2>/dev/null || true
  find /sys/fs/cgroup -depth -type d '(' -name "$name" -o -path "*/$name/*" ')' -exec rmdir {} + 2>/dev/null || true
  # Remembered networks would claim addresses that the next start may not get.
  rm -rf "$folder/data/network" "$folder/exec" "$folder/docker.sock" "$folder/docker.pid" "$note"
}

# shellcheck disable=SC2329 # called by the trap
stop() {
  trap '' TERM INT HUP
  # Killed, not stopped: whoever stops the engine does not wait ten seconds for each container.
  export DOCKER_HOST=unix://$folder/docker.sock
  timeout 20 docker ps --all --quiet | xargs --no-run-if-empty timeout 20 docker rm --force --volumes >/dev/null || true
  [ -z "$daemon" ] || kill -TERM "$daemon" 2>/dev/null || true
}

# Unmounted by `tidy`, as all mounts below the folder are.
keep_in_memory() {
  local free_gib
  free_gib=$(awk '$1 == "MemAvailable:" { print int($2 / 1024 / 1024) }' /proc/meminfo)
  mkdir -p "$folder/data"
  [ "$free_gib" -lt "$MEMORY_LEAST_GIB" ] || mount -t tmpfs -o mode=711 berth-engine "$folder/data"
}

# All of it is one function, so that the file may be replaced while it runs.
main() {
  [ $# -eq 1 ] || [ "$*" = "$1 --in-memory" ] || { echo "Usage: $0 FOLDER [--in-memory]" >&2; exit 2; }
  "$(dirname "${BASH_SOURCE[0]}")/engine-available.sh" >&2
  mkdir -p "$1"
  folder=$(cd "$1" && pwd -P)
  note=$folder/engine.note
  tidy
  trap tidy EXIT
  take_bridge
  [ $# -eq 1 ] || keep_in_memory
  trap stop TERM INT HUP
  echo '{}' >"$folder/daemon.json"
  # In a session of its own, so that Ctrl-C does not reach it before its containers are gone. It follows this script
  # into death, even by SIGKILL.
  setsid setpriv --pdeathsig TERM -- dockerd \
    --host "unix://$folder/docker.sock" --config-file "$folder/daemon.json" \
    --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/docker.pid" \
    --bridge "$bridge" --iptables=false --default-address-pool "base=$pool,size=28" \
    --cgroup-parent "/$bridge" >>"$folder/dockerd.log" 2>&1 &
  daemon=$!
  # A signal ends `wait` early; the daemon is then on its way out.
  local status=0
  while [ -e "/proc/$daemon" ]; do
    status=0
    wait "$daemon" || status=$?
  done
  exit "$status"
}

main "$@"
