# shellcheck shell=bash disable=SC2154
# Programs that run in the background, by a file with their pid; sourced by up.sh and down.sh, which set `folder`.

# Its command line as one text: a pid alone may be somebody else's by now.
command_of() { tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" || true; }

# One that its parent has not taken leave of is gone too.
is_gone() {
  case $(awk '/^State/ { print $2 }' "/proc/$1/status" 2>/dev/null) in '' | Z | X) return 0 ;; esac
  return 1
}

is_ours() { ! is_gone "$1" && command_of "$1" | grep -qF "$folder"; }

# Every one of them names the folder in its words, by which it is known again.
start_daemon() { # name command…
  local name=$1 pid
  shift
  pid=$(cat "$folder/pid/$name" 2>/dev/null || true)
  if [ -n "$pid" ] && is_ours "$pid"; then return; fi
  setsid nsenter --net="/run/netns/$NAMESPACE" "$@" >"$folder/log/$name.log" 2>&1 </dev/null 8>&- 9>&- &
  echo $! >"$folder/pid/$name"
}

# All at once, and then each is waited for; all of them survive to be killed.
stop_daemons() { # signal name…
  local signal=$1 name pid pids=()
  shift
  for name in "$@"; do
    pid=$(cat "$folder/pid/$name" 2>/dev/null) || continue
    rm -f "$folder/pid/$name"
    if is_ours "$pid" && kill -s "$signal" "$pid" 2>/dev/null; then pids+=("$pid"); fi
  done
  for pid in "${pids[@]}"; do
    for _ in $(seq 40); do
      is_gone "$pid" && break
      sleep 0.05
    done
    is_gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
  done
}

until_ready() { # what seconds command…
  local what=$1 end=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$end" ]; then
      echo "$what is not ready; see $folder/log" >&2
      return 1
    fi
    sleep 0.1
  done
}
