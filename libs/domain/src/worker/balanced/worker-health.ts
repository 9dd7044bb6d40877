/** What one health check showed. `failed`: any other answer, none in time, or no connection. */
export type HealthAnswer =
  | { readonly kind: 'ready' | 'initializing'; readonly words: string; readonly port: number }
  | { readonly kind: 'failed'; readonly words: string };

/**
 * `unknown`: not enough checks since its container was started or found again. `initializing`: it says so itself. Only one
 * that is `in` gets requests.
 */
type HealthStanding = 'unknown' | 'in' | 'initializing' | 'out';

/** What the checks of one container have shown. Instants are of one clock that never steps. */
export interface WorkerHealth {
  readonly standing: HealthStanding;
  /** When it came to stand so. */
  readonly sinceMs: number;
  readonly failuresInARow: number;
  /** Of requests that found no connection, the latest ones. */
  readonly connectionErrorsAtMs: readonly number[];
  /** What the last check or connection showed, for people; empty before the first. */
  readonly words: string;
  /** How many checks there were before the first good one. */
  readonly checksBefore: number;
  /** It has been good once. */
  readonly hasBeenGood: boolean;
  /** The port that the latest check was answered on which did not fail; null before the first of those. */
  readonly answeredOn: number | null;
}

export const newHealth = (nowMs: number): WorkerHealth => ({
  standing: 'unknown',
  sinceMs: nowMs,
  failuresInARow: 0,
  connectionErrorsAtMs: [],
  words: '',
  checksBefore: 0,
  hasBeenGood: false,
  answeredOn: null,
});

const OUT_AFTER_FAILURES = 2;
const OUT_AFTER_CONNECTION_ERRORS = 3;
const CONNECTION_ERRORS_WITHIN_MS = 10_000;

/** 200 counts at once, 204 as well; what fails counts when it fails again. */
export function afterCheck(health: WorkerHealth, answer: HealthAnswer, nowMs: number): WorkerHealth {
  const { kind, words } = answer;
  const answeredOn = kind === 'failed' ? health.answeredOn : answer.port;
  const checksBefore = health.hasBeenGood ? health.checksBefore : health.checksBefore + 1;
  const said = { ...health, words, checksBefore, answeredOn };
  switch (kind) {
    case 'ready':
      return standingAs({ ...said, failuresInARow: 0, connectionErrorsAtMs: [], hasBeenGood: true }, 'in', nowMs);
    case 'initializing':
      return standingAs({ ...said, failuresInARow: 0 }, 'initializing', nowMs);
    case 'failed': {
      const failuresInARow = Math.min(OUT_AFTER_FAILURES, health.failuresInARow + 1);
      const failed = { ...said, failuresInARow };
      return failuresInARow < OUT_AFTER_FAILURES ? failed : standingAs(failed, 'out', nowMs);
    }
    default:
      return kind satisfies never;
  }
}

/** A request was admitted and its worker did not take the connection. */
export function afterConnectionError(health: WorkerHealth, words: string, nowMs: number): WorkerHealth {
  const recent = health.connectionErrorsAtMs.filter((atMs) => nowMs - atMs < CONNECTION_ERRORS_WITHIN_MS);
  const connectionErrorsAtMs = [...recent, nowMs].slice(-OUT_AFTER_CONNECTION_ERRORS);
  const noted = { ...health, connectionErrorsAtMs };
  if (connectionErrorsAtMs.length < OUT_AFTER_CONNECTION_ERRORS || health.standing !== 'in') return noted;
  return standingAs({ ...noted, words }, 'out', nowMs);
}

/** After a pause: what failed before it says nothing, and since when it stands so begins anew. */
export const afterRest = (health: WorkerHealth, nowMs: number): WorkerHealth => ({
  ...health,
  sinceMs: nowMs,
  failuresInARow: 0,
  connectionErrorsAtMs: [],
});

const standingAs = (health: WorkerHealth, standing: HealthStanding, nowMs: number): WorkerHealth =>
  health.standing === standing ? health : { ...health, standing, sinceMs: nowMs };

/** From one check to the next of a worker that has come up. */
const HEALTH_INTERVAL_MS = 5_000;
const STARTING_INTERVAL_MS = 250;
const STARTING_INTERVAL_MAX_MS = 1_000;

/** How long to wait until the next check: while it starts, a good answer is not to be waited for. */
export function nextCheckInMs({ checksBefore, hasBeenGood }: WorkerHealth): number {
  if (hasBeenGood) return HEALTH_INTERVAL_MS;
  return Math.min(STARTING_INTERVAL_MAX_MS, STARTING_INTERVAL_MS * 2 ** Math.max(0, Math.min(checksBefore, 8) - 1));
}
