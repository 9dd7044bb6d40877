import type { ObservedWorker } from '../worker/index.js';

type Told = Pick<ObservedWorker, 'phase' | 'reason'>;

const READY = ['idle', 'busy'];

/**
 * What a worker's log says when its condition changes; null where that is no news. That a worker goes from job to job is
 * none: the jobs' own lines say so.
 */
export function describeChange(before: Told | null, { phase, reason }: Told): string | null {
  const isReady = READY.includes(phase);
  const wasReady = before !== null && READY.includes(before.phase);
  const isSamePhase = before?.phase === phase || (isReady && wasReady);
  if (isSamePhase && before?.reason === reason) return null;
  const word = isReady ? 'ready' : phase;
  return reason === '' ? word : `${word}: ${reason}`;
}

/** In the place of lines that were not kept. */
export const describeDropped = (count: number): string =>
  `${count} ${count === 1 ? 'line was' : 'lines were'} dropped: the worker printed faster than its log is kept`;

/** In the place of lines that are gone before they could be read. @param count null where nobody knows how many */
export const describeAbsence = (count: number | null): string =>
  count === null
    ? 'some lines are missing: the container printed more than its host keeps while nobody read it'
    : `${count} ${count === 1 ? 'line is' : 'lines are'} missing: no longer kept by the host`;
