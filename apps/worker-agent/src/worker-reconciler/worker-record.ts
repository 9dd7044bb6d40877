import { newJournal, type WorkerIdentity, type WorkerJournal } from '@berth/domain';
import type { WorkerAdmission } from '../bridge/index.js';
import type { WorkerListening } from '../load-balanced/index.js';

/** One life of a worker: a container from its start until it is removed. */
export interface WorkerLife {
  /** Null from the moment before the start until the runtime has told it. */
  readonly containerId: string | null;
  /**
   * As the bridge got it; a container that is found again still has this token in its environment. The rest of that
   * environment may hold a tenant's secrets and is never written down, but for where a load-balanced worker listens.
   */
  readonly registration: WorkerAdmission;
  /** Where the bridge was when it was started: all that it knows of it. */
  readonly bridgeAddress: string;
  /** Unix ms of what has happened to it; kept because a successor must not give jobs to a worker that is leaving. */
  readonly readyAtMs: number | null;
  readonly releasedAtMs: number | null;
  readonly stoppedAtMs: number | null;
  /** Where a load-balanced one listens; absent of a queue's, and in records of agents that did not look after them. */
  readonly listens?: WorkerListening;
  /** How many requests it takes at a time, until the control plane says it again. */
  readonly slots?: number;
  /** Since when it gets no job, to be paused or because it is; absent in records of agents that could not pause. */
  readonly heldAtMs?: number | null;
  /** Why it was killed for the sake of a job; null while it was not. Its other jobs must not pay for that. */
  readonly killReason: string | null;
}

/** What the agent keeps on disk about one worker. */
export interface WorkerRecord {
  readonly identity: WorkerIdentity;
  readonly journal: WorkerJournal;
  /** Null while it has no container. */
  readonly life: WorkerLife | null;
}

export const newRecord = (identity: WorkerIdentity, generation: number): WorkerRecord => ({
  identity,
  journal: newJournal(generation),
  life: null,
});

/** Null when it is none: written by another version, which this one must not guess about. */
export function parseRecord(value: unknown): WorkerRecord | null {
  const { identity, journal, life } = (value ?? {}) as Partial<WorkerRecord>;
  if (typeof identity?.workerId !== 'string' || typeof identity.endpointId !== 'string') return null;
  if (typeof journal?.generation !== 'number' || typeof journal.failedStarts !== 'number') return null;
  return isLife(life) ? { identity, journal, life } : null;
}

const isLife = (life: WorkerLife | null | undefined): life is WorkerLife | null =>
  life === null || typeof life?.registration.token === 'string';
