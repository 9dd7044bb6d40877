import type { SeededRandom } from '@berth/testing';

/** What a tenant does with a job besides waiting for its end. */
export type JobKind = 'plain' | 'keyed' | 'cancelled' | 'retried' | 'told' | 'short-lived' | 'streamed';

/** How many of a hundred jobs are of each kind. */
const SHARES: Readonly<Record<JobKind, number>> = {
  plain: 58,
  keyed: 10,
  cancelled: 8,
  retried: 6,
  told: 8,
  'short-lived': 4,
  streamed: 6,
};

export const CHUNKS = 5;
export const SHORT_TTL_MS = 10_000;
const SLEEP_MAX_MS = 400;
/** So long that most of them are cancelled while they wait or run. */
const CANCELLED_SLEEP_MAX_MS = 2_000;

export function pickKind(random: SeededRandom): JobKind {
  let left = random.integer(1, 100);
  for (const [kind, share] of Object.entries(SHARES)) {
    left -= share;
    if (left <= 0) return kind as JobKind;
  }
  return 'plain';
}

/** A job request, and what its worker reads of the input. */
export interface JobBody {
  readonly input: {
    readonly echo: string;
    readonly sleepMs: number;
    readonly failsOnce?: boolean;
    readonly chunks?: number;
  };
  readonly webhook?: string;
  readonly policy?: { readonly ttl: number };
}

export function bodyOf(kind: JobKind, random: SeededRandom, receiverUrl: string): JobBody {
  const sleepMs = random.integer(0, kind === 'cancelled' ? CANCELLED_SLEEP_MAX_MS : SLEEP_MAX_MS);
  const input = { echo: random.uuid(), sleepMs };
  switch (kind) {
    case 'retried':
      return { input: { ...input, failsOnce: true } };
    case 'streamed':
      return { input: { ...input, chunks: CHUNKS } };
    case 'told':
      return { input, webhook: receiverUrl };
    case 'short-lived':
      return { input, policy: { ttl: SHORT_TTL_MS } };
    case 'plain':
    case 'keyed':
    case 'cancelled':
      return { input };
  }
}
