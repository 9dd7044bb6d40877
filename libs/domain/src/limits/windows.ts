/** So many requests per window. Windows are aligned to the epoch: all of one length begin at the same instant. */
export interface WindowLimit {
  /** As callers read it: `minute`. */
  readonly name: string;
  /** Requests that one window admits. */
  readonly quota: number;
  readonly seconds: number;
}

/** The requests that were admitted in the window that began at this instant. */
export interface WindowUse {
  readonly startedAtMs: number;
  readonly used: number;
}

/** A limit as it stands for a caller. */
export interface WindowState extends WindowLimit {
  readonly remaining: number;
  /** Until the window begins anew, from 1 to `seconds`. */
  readonly resetSeconds: number;
}

/** One limit with its use. */
export interface Window {
  readonly limit: WindowLimit;
  readonly use: WindowUse;
}

const SECOND_MS = 1_000;

/** Begin of the window that `nowMs` is in. */
export const windowStartMs = ({ seconds }: WindowLimit, nowMs: number): number =>
  nowMs - (nowMs % (seconds * SECOND_MS));

/**
 * Admits a request when every window has room, and counts it in all of them. A refused one is counted in none: a caller
 * who keeps asking while one window is spent does not spend the others.
 */
export function countRequest(
  windows: readonly Window[],
  nowMs: number,
): { readonly isAdmitted: boolean; readonly uses: readonly WindowUse[] } {
  const present = windows.map(({ limit, use }) => ({ limit, use: presentUse(limit, use, nowMs) }));
  const isAdmitted = present.every(({ limit, use }) => use.used < limit.quota);
  const cost = isAdmitted ? 1 : 0;
  return { isAdmitted, uses: present.map(({ use }) => ({ ...use, used: use.used + cost })) };
}

/** The state of a window, as a caller may be told of it. */
export function windowState({ limit, use }: Window, nowMs: number): WindowState {
  const { startedAtMs, used } = presentUse(limit, use, nowMs);
  const leftSeconds = Math.ceil((startedAtMs - nowMs) / SECOND_MS + limit.seconds);
  return {
    ...limit,
    remaining: Math.max(0, limit.quota - used),
    resetSeconds: Math.min(leftSeconds, limit.seconds),
  };
}

/** The spent window for which a refused caller has to wait longest; null where every window has room. */
export const longestSpent = (states: readonly WindowState[]): WindowState | null =>
  states
    .filter(({ remaining }) => remaining === 0)
    .reduce<WindowState | null>((worst, each) => (each.resetSeconds > (worst?.resetSeconds ?? 0) ? each : worst), null);

/** A use of an earlier window is over. One of a later window, left by a clock that was ahead, still counts. */
function presentUse(limit: WindowLimit, use: WindowUse, nowMs: number): WindowUse {
  const startedAtMs = windowStartMs(limit, nowMs);
  return use.startedAtMs >= startedAtMs ? use : { startedAtMs, used: 0 };
}
