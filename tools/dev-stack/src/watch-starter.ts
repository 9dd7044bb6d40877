import type { Clock } from '@berth/lifecycle';

export interface StarterWatch {
  readonly clock: Clock;
  /** Pid of the process that started this one, taken before anything was waited for: it may be gone by now. */
  readonly starterPid: number;
  /** Pid of the process that has this one for a child now. */
  readonly parentPid: () => number;
  readonly onGone: () => void;
}

/** Soon enough for who waits for the end, and nothing beside what the rest of the stack does meanwhile. */
const LOOK_EVERY_MS = 250;

/**
 * Calls `onGone` once when the process that started this one has ended, however it ended: an orphan is given another
 * parent at once. A signal would not do, because npm hands on two of them and nobody hands on SIGKILL.
 *
 * @returns ends the watch
 */
export function watchStarter({ clock, starterPid, parentPid, onGone }: StarterWatch): () => void {
  const stop = clock.every(LOOK_EVERY_MS, () => {
    if (parentPid() === starterPid) return;
    stop();
    onGone();
  });
  return stop;
}
