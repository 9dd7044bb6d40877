import {
  PlatformError,
  claimTry,
  deliveryTtlMs,
  settleTry,
  type Delivery,
  type DeliveryKey,
  type TryResult,
} from '@berth/domain';
import type { JobStore } from './job-store.js';
import type { StoredDelivery } from './ports/deliveries.port.js';

type DeliveryStore = Pick<JobStore, 'deliveries' | 'clock' | 'random'>;

/** A delivery of which the caller may make one try. */
export interface ClaimedDelivery {
  readonly delivery: Delivery;
  readonly token: string;
}

/** `not-found`: nothing is there to try, now or later. `not-due`: somebody else is at it, or it is over, or too early. */
export type ClaimOutcome =
  | ({ readonly kind: 'claimed' } & ClaimedDelivery)
  | { readonly kind: 'used-up'; readonly delivery: Delivery }
  | { readonly kind: 'not-due'; readonly delivery: Delivery }
  | { readonly kind: 'not-found' };

const ROUNDS_MAX = 5;
const TOKEN_LENGTH = 20;

/**
 * Claims one try by compare-and-set, before anything is sent: from here on it counts. A lost race is an answer. After an
 * unknown outcome the record is read back, and only a claim that is seen there is one.
 *
 * @throws PlatformError `service-unavailable` when the store does not answer
 */
export async function claimDelivery(store: DeliveryStore, key: DeliveryKey): Promise<ClaimOutcome> {
  const token = store.random.id(TOKEN_LENGTH);
  const stored = await store.deliveries.read(key);
  if (stored === null) return { kind: 'not-found' };
  const verdict = claimTry(stored.delivery, token, store.clock.nowMs());
  if (verdict.kind === 'not-due') return { kind: 'not-due', delivery: stored.delivery };
  const written = await replace(store, stored, verdict.delivery);
  if (written === 'written') return verdict.kind === 'claimed' ? { ...verdict, token } : verdict;
  const present = await store.deliveries.read(key);
  if (present === null) return { kind: 'not-found' };
  const { delivery } = present;
  return delivery.claim?.token === token ? { kind: 'claimed', delivery, token } : { kind: 'not-due', delivery };
}

/**
 * Writes down how a try ended. Null: the claim was another's by then, and the try counts as lost.
 *
 * @throws PlatformError `service-unavailable` when it could not be written; to be repeated while the claim lasts
 */
export async function settleDelivery(
  store: DeliveryStore,
  { delivery: claimed, token }: ClaimedDelivery,
  result: TryResult,
): Promise<Delivery | null> {
  const fraction = store.random.fraction();
  const endedAtMs = store.clock.nowMs();
  let attempted: Delivery | null = null;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const stored = await store.deliveries.read(claimed);
    if (stored === null) return null;
    // The claim is over and the last try has its end: an earlier round's write, whose answer was lost.
    if (attempted !== null && isSame(stored.delivery, attempted)) return attempted;
    const settled = settleTry(stored.delivery, { token, result, fraction }, endedAtMs);
    if (settled === null) return null;
    if ((await replace(store, stored, settled)) === 'written') return settled;
    attempted = settled;
  }
  throw new PlatformError('service-unavailable', 'The delivery is being changed by others; try again.', {
    retryAfterSeconds: 1,
  });
}

async function replace(
  { deliveries }: DeliveryStore,
  { sequence }: StoredDelivery,
  delivery: Delivery,
): Promise<'written' | 'conflict' | 'unknown'> {
  return (await deliveries.replace(delivery, sequence, deliveryTtlMs(delivery, deliveries.fill))).kind;
}

const isSame = (present: Delivery, written: Delivery): boolean =>
  present.claim === null &&
  present.outcome === written.outcome &&
  present.tries.length === written.tries.length &&
  present.tries.at(-1)?.atMs === written.tries.at(-1)?.atMs;
