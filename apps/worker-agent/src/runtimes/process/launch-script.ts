/**
 * The small shell around a worker's program. It stays when the agent is killed, so that somebody writes the exit code
 * down; and because it says who it is before it starts anything, no worker can run that the agent's successor does not
 * find.
 *
 * Arguments: the state folder, then the program and its arguments. It leads a session of its own.
 * - `ln` makes `identity` appear whole, or fails: of two launches of one folder only one gets further.
 * - SIGTERM goes to the program alone, as it does in a container: its helpers (the SDK's pings come from one) go on
 *   until it says otherwise. A trap interrupts `wait`, so that is repeated while the program lives, and once more behind
 *   its end: the interrupted one may have heard of the end and said only that it was interrupted. 127: it had told the code.
 * - When the folder is thrown away, nobody can find this worker any more, so it ends by itself within five seconds.
 * - The last line ends what the program left running in its group, the shell itself included.
 */
export const LAUNCH_SCRIPT = `
state=$1
shift
ulimit -c 0
{
  printf '%s\\n' "$$"
  cat /proc/sys/kernel/random/boot_id /proc/$$/stat 2>/dev/null || ps -o lstart= -p $$
} >"$state/identity.$$"
child= asked=
trap 'asked=yes; [ -z "$child" ] || kill -s TERM "$child"' TERM
trap : INT HUP
ln "$state/identity.$$" "$state/identity" || exit 70
( trap '' TERM INT HUP; while [ -d "$state" ]; do sleep 5; done; kill -s KILL 0 ) &
"$@" </dev/null >>"$state/output.log" 2>&1 &
child=$!
[ -z "$asked" ] || kill -s TERM "$child"
while :; do
  wait "$child"
  code=$?
  kill -s 0 "$child" 2>/dev/null || break
done
wait "$child"
again=$?
[ "$again" = 127 ] || code=$again
trap '' TERM INT HUP
printf '%s\\n' "$code" >"$state/exit.part" && mv "$state/exit.part" "$state/exit"
kill -s KILL 0
`;
