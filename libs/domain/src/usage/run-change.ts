import type { ObservedWorker } from '../worker/worker.js';

/** How a worker uses its host: its container runs, at work or not, or is frozen with all that it holds. */
export type HostUse = 'running' | 'paused';

type Seen = Pick<ObservedWorker, 'phase' | 'phaseSinceMs' | 'startedAtMs'>;

/** When a report came, and what it was compared with. */
export interface ReportTimes {
  readonly receivedAtMs: number;
  /** By the clock of the host; absent: it does not say. */
  readonly sentAtMs?: number;
  /** When the report before it was received; null: it is the first. */
  readonly previousAtMs: number | null;
  /** When the worker was placed. */
  readonly placedAtMs: number;
}

/** What becomes of the time that is counted for a worker. Instants are of the control plane's clock. */
export interface RunChange {
  /** Until when it used its host as it did before; null: it did not. */
  readonly endedAtMs: number | null;
  /** How it uses its host now, and since when; null: not at all. */
  readonly begun: { readonly use: HostUse; readonly sinceMs: number } | null;
}

/** Null where it has no container: an image that is pulled, or a pause between two starts, uses nothing. */
export function useOf({ phase, startedAtMs }: Pick<Seen, 'phase' | 'startedAtMs'>): HostUse | null {
  if (startedAtMs === null || phase === 'removed') return null;
  return phase === 'paused' ? 'paused' : 'running';
}

/**
 * What a report changes of how a worker uses its host; null: nothing. Clocks of hosts differ, so what is believed is how
 * long ago a thing was, and never that it was before the last report, which did not know of it.
 *
 * A container that took the place of another one between two reports: of the first nothing is known after the report before.
 *
 * @param before what the report before it said of the worker; null: nothing
 */
export function runChange(before: Seen | null, after: Seen, times: ReportTimes): RunChange | null {
  const was = before === null ? null : useOf(before);
  const is = useOf(after);
  const isSameContainer = before?.startedAtMs === after.startedAtMs;
  if (was === is && (is === null || isSameContainer)) return null;
  const floorMs = floorOf(before, times);
  const changedAtMs = onOwnClock(after.phaseSinceMs, floorMs, times);
  if (is === null) return { endedAtMs: changedAtMs, begun: null };
  if (was === null) return { endedAtMs: null, begun: begunWith(is, after, { floorMs, times }) };
  if (isSameContainer) return { endedAtMs: changedAtMs, begun: { use: is, sinceMs: changedAtMs } };
  return { endedAtMs: floorMs, begun: begunWith(is, after, { floorMs, times }) };
}

/** One that is frozen when it is first heard of ran before, for how long nobody knows. */
function begunWith(
  use: HostUse,
  { phaseSinceMs, startedAtMs }: Seen,
  { floorMs, times }: { readonly floorMs: number; readonly times: ReportTimes },
): RunChange['begun'] {
  const hostMs = use === 'paused' || startedAtMs === null ? phaseSinceMs : startedAtMs;
  return { use, sinceMs: onOwnClock(hostMs, floorMs, times) };
}

function floorOf(before: Seen | null, { placedAtMs, previousAtMs, receivedAtMs }: ReportTimes): number {
  const knownAtMs = before === null || previousAtMs === null ? placedAtMs : Math.max(placedAtMs, previousAtMs);
  return Math.min(knownAtMs, receivedAtMs);
}

function onOwnClock(hostMs: number, floorMs: number, { receivedAtMs, sentAtMs = hostMs }: ReportTimes): number {
  const agoMs = Math.max(0, sentAtMs - hostMs);
  return Math.max(floorMs, receivedAtMs - agoMs);
}
