import type { WorkerId } from '@berth/domain';
import { isAlive, type Clock } from '@berth/lifecycle';
import type { CallOptions, ContainerFreezer } from '../container-runtime.port.js';
import { RuntimeError, throwIfCancelled } from '../runtime-error.js';
import { fromSystemError } from '../system-error.js';
import { isStopped, killGroup } from './process-group.js';
import type { WorkerFolder } from './worker-folder.js';

const POLL_MS = 5;
/** A signal is taken at once, except by a process that waits for a device. */
const STOP_MAX_MS = 5_000;

/**
 * Stops and continues the process group of a worker. What has left the group goes on.
 *
 * The note in the worker's folder is written before the processes stop and removed after they go on: a worker that stands
 * still by another's hand has none, and is not taken for one that was paused.
 */
export class ProcessFreezer implements ContainerFreezer {
  readonly #folder: (workerId: WorkerId) => WorkerFolder;
  readonly #clock: Clock;

  constructor(folder: (workerId: WorkerId) => WorkerFolder, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async pause(workerId: WorkerId, { signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    await frozen(`Worker ${workerId} cannot be paused`, async () => {
      const folder = this.#folder(workerId);
      const pid = await leaderOf(folder);
      if (pid === null) return;
      await folder.notePaused(true);
      killGroup(pid, 'SIGSTOP');
      await this.#stopped(workerId, pid);
    });
  }

  async resume(workerId: WorkerId, { signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    await frozen(`Worker ${workerId} cannot be resumed`, async () => {
      const folder = this.#folder(workerId);
      if (!(await folder.isPaused())) return;
      const pid = await leaderOf(folder);
      if (pid !== null) killGroup(pid, 'SIGCONT');
      await folder.notePaused(false);
    });
  }

  async #stopped(workerId: WorkerId, pid: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + STOP_MAX_MS;
    while (!(await isStopped(pid))) {
      if (this.#clock.monotonicMs() > untilMs) {
        throw new RuntimeError('freeze-failed', `The processes of worker ${workerId} do not stop.`);
      }
      await this.#clock.sleep(POLL_MS);
    }
  }
}

/** Null where none runs. */
async function leaderOf(folder: WorkerFolder): Promise<number | null> {
  const identity = await folder.identity();
  const hasEnded = identity === null || (await folder.exitCode()) !== null;
  return !hasEnded && (await isAlive(identity)) ? identity.pid : null;
}

/** @throws RuntimeError in place of whatever the system throws */
async function frozen(what: string, call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    throw fromSystemError(error, 'freeze-failed', what);
  }
}
