import { PassThrough } from 'node:stream';
import { Exec, type KubeConfig, type V1Status } from '@kubernetes/client-node';
import type { Clock } from '@berth/lifecycle';
import { WORKER_CONTAINER } from './pod-spec.js';

/** For the worker's own shell. The program has no parent in sight, and of those that have none it was there first. */
const END_PROGRAM = `
main=
for folder in /proc/[0-9]*; do
  pid=\${folder#/proc/}
  if [ "$pid" = 1 ] || [ "$pid" = $$ ]; then continue; fi
  parent=
  while read -r key value; do
    if [ "$key" = PPid: ]; then parent=$value; break; fi
  done <"$folder/status" 2>/dev/null
  if [ "$parent" = 0 ] && { [ -z "$main" ] || [ "$pid" -lt "$main" ]; }; then main=$pid; fi
done
[ -n "$main" ] && kill -TERM "$main"
`;
/** All that there is but the Pod's own first process, which the kernel keeps. */
const KILL_ALL = 'kill -KILL -1';

const SCRIPTS = { SIGTERM: END_PROGRAM, SIGKILL: KILL_ALL } as const;
const ANSWER_MAX_MS = 10_000;

export interface SignalPodOptions {
  readonly config: KubeConfig;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Sends a signal by the shell of the worker's own image: the API knows no signals, and what it knows of ends takes the Pod
 * away with its log, or cannot be hurried. What the image's shell does with it is for the caller to see.
 *
 * @returns whether the shell says that it has done so; false also where the image has none
 */
export async function signalPod(
  signal: keyof typeof SCRIPTS,
  { clock, config, name, namespace }: SignalPodOptions,
): Promise<boolean> {
  const command = ['/bin/sh', '-c', SCRIPTS[signal]];
  // What a shell says has to be read, or it would wait.
  const output = new PassThrough().resume();
  const told = Promise.withResolvers<boolean>();
  const forget = clock.after(ANSWER_MAX_MS, () => told.resolve(false));
  const onStatus = ({ status }: V1Status): void => told.resolve(status === 'Success');
  try {
    const connecting = new Exec(config).exec(
      namespace,
      name,
      WORKER_CONTAINER,
      command,
      output,
      output,
      null,
      false,
      onStatus,
    );
    void connecting.then(
      (socket) => {
        socket.on('error', () => told.resolve(false));
        socket.on('close', () => told.resolve(false));
        void told.promise.then(() => {
          socket.close();
        });
      },
      () => told.resolve(false),
    );
    return await told.promise;
  } finally {
    forget();
  }
}
