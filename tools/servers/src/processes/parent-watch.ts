import { spawn, type ChildProcess } from 'node:child_process';

/**
 * Tidies up after a parent that can no longer do it: when this process dies, even by SIGKILL, its servers are ended and
 * its temporary folders removed.
 *
 * One small shell reads orders from a pipe; the kernel closes the pipe when the parent dies, and the shell then acts.
 * A parent-death signal (`PR_SET_PDEATHSIG`) would need no process, but exists on Linux only and cannot remove folders.
 * Handlers of `process.on('exit')` do not run on SIGKILL, nor inside a test runner's sandbox.
 */
const WATCH_SCRIPT = `
ends= folders= newline='
'
without() { printf '%s' "$1" | while IFS= read -r line; do [ "$line" = "$2" ] || printf '%s\\n' "$line"; done; }
while IFS=' ' read -r verb value; do
  case $verb in
    end) ends="$ends$value$newline" ;;
    spare) ends=$(without "$ends" "$value")$newline ;;
    remove) folders="$folders$value$newline" ;;
    keep) folders=$(without "$folders" "$value")$newline ;;
  esac
done
printf '%s' "$ends" | while read -r signal pid; do [ -z "$pid" ] || kill -s "$signal" "$pid" 2>/dev/null; done
printf '%s' "$ends" | while read -r signal pid; do
  [ -n "$pid" ] || continue
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL "$pid" 2>/dev/null
done
printf '%s' "$folders" | while IFS= read -r folder; do [ -z "$folder" ] || rm -rf -- "$folder"; done
`;

class ParentWatch {
  #shell: ChildProcess | undefined;
  #orders = 0;

  /** When this process dies, sends `signal` to `pid`, and SIGKILL 10 s later. */
  endProcess(pid: number, signal: NodeJS.Signals): void {
    this.#order('end', `${signal.slice('SIG'.length)} ${String(pid)}`, 1);
  }

  /** Takes {@link endProcess} back; must be called as soon as the process has ended, because pids are used again. */
  spareProcess(pid: number, signal: NodeJS.Signals): void {
    this.#order('spare', `${signal.slice('SIG'.length)} ${String(pid)}`, -1);
  }

  /** When this process dies, removes the folder, after the processes have ended. */
  removeFolder(path: string): void {
    this.#order('remove', path, 1);
  }

  keepFolder(path: string): void {
    this.#order('keep', path, -1);
  }

  #order(verb: string, value: string, change: number): void {
    this.#shell ??= startShell();
    this.#shell.stdin?.write(`${verb} ${value}\n`);
    this.#orders += change;
    if (this.#orders > 0) return;
    // Nothing left to watch: the shell reads the end of its orders, finds both lists empty, and goes.
    this.#shell.stdin?.end();
    this.#shell = undefined;
  }
}

const startShell = (): ChildProcess => {
  // A session of its own: Ctrl-C in the terminal must reach the parent only, which then stops its servers in order.
  const shell = spawn('/bin/sh', ['-c', WATCH_SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  shell.on('error', ignoreBrokenWatch);
  shell.stdin.on('error', ignoreBrokenWatch);
  shell.unref();
  (shell.stdin as unknown as { unref?: () => void }).unref?.();
  return shell;
};

// The watch is the second line of defence: without it servers still stop in `stop()` and by their pid files.
const ignoreBrokenWatch = (): void => undefined;

export const parentWatch = new ParentWatch();
