import type { StartFailure } from '../worker.js';
import { failuresAfterEnd, startDelayMs, type ContainerEnd } from './start-backoff.js';

export interface LastFailure {
  readonly atMs: number;
  readonly reason: string;
  readonly kind: StartFailure;
  /**
   * It says nothing of the worker: the host had no room for it (GPUs, memory or disk that others have), or it was taken
   * from its host. Absent: it is not known to be that.
   */
  readonly lacksRoom?: boolean;
}

/** What an agent keeps on disk about one worker, so that a restart of the agent forgets no failure. */
export interface WorkerJournal {
  /** The `generation` of the desired worker that these counts belong to. */
  readonly generation: number;
  /** Failed starts in a row. */
  readonly failedStarts: number;
  readonly lastFailure: LastFailure | null;
  /** The container whose end is in the counts already: an end is counted once, however often it is seen. */
  readonly countedContainerId: string | null;
  /** Since when a complete list of desired workers lacks this one; null while it is wanted. */
  readonly unwantedSinceMs: number | null;
}

export const newJournal = (generation: number): WorkerJournal => ({
  generation,
  failedStarts: 0,
  lastFailure: null,
  countedContainerId: null,
  unwantedSinceMs: null,
});

/** After a preparation or a start that failed at once, so that the same step can report why. */
export const withStartFailure = (
  journal: WorkerJournal,
  failure: Omit<LastFailure, 'atMs'>,
  nowMs: number,
): WorkerJournal => ({
  ...journal,
  failedStarts: journal.failedStarts + 1,
  lastFailure: { ...failure, atMs: nowMs },
});

/** After a container ended; `reason` says how, for people. */
export function withContainerEnd(
  journal: WorkerJournal,
  end: ContainerEnd & { readonly containerId: string; readonly reason: string; readonly isEvicted?: boolean },
  nowMs: number,
): WorkerJournal {
  const failedStarts = failuresAfterEnd(journal.failedStarts, end);
  const lastFailure: LastFailure | null = end.isExpected
    ? journal.lastFailure
    : {
        ...{ atMs: nowMs, reason: end.reason, kind: 'container' },
        ...(end.isEvicted === true ? { lacksRoom: true } : {}),
      };
  return {
    ...journal,
    failedStarts,
    lastFailure: failedStarts === 0 ? null : lastFailure,
    countedContainerId: end.containerId,
  };
}

/** The instant before which the worker is not started again; 0 when it may be started now. */
export const nextStartAtMs = ({ failedStarts, lastFailure }: WorkerJournal): number =>
  lastFailure === null ? 0 : lastFailure.atMs + startDelayMs(failedStarts);
