import type { ContainerState, ObservedWorker } from '../worker/index.js';

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

/** How a container has ended. @param reason what the runtime adds; empty where the code says it all */
export function describeEnd({ exitCode, reason }: Pick<Ended, 'exitCode' | 'reason'>): string {
  const code = exitCode === null ? 'the container has ended' : `the container has ended with code ${exitCode}`;
  return reason === '' ? code : `${code}: ${reason}`;
}

type Ended = Extract<ContainerState, { readonly kind: 'exited' }>;

/** In the place of lines that were not kept. */
export const describeDropped = (count: number): string =>
  `${count} ${count === 1 ? 'line was' : 'lines were'} dropped: they came faster than they are kept, or their host had no room`;

/** In the place of lines that are gone before they could be read. @param count null where nobody knows how many */
export const describeAbsence = (count: number | null): string =>
  count === null
    ? 'some lines are missing: the container printed more than its host keeps while nobody read it'
    : `${count} ${count === 1 ? 'line is' : 'lines are'} missing: no longer kept by the host`;
