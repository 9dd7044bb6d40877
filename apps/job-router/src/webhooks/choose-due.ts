import type { PendingDelivery } from './pending-deliveries.port.js';

/** Requests under way at one time in this router. */
export interface SendLimits {
  readonly total: number;
  /** To one host and port. */
  readonly perHost: number;
  /** With a large body, which lies in memory whole. */
  readonly large: number;
}

export const SEND_LIMITS: SendLimits = { total: 200, perHost: 8, large: 2 };

/** Above it a body counts as large. */
export const LARGE_BYTES = 1024 ** 2;

const isLarge = ({ sizeBytes }: PendingDelivery): boolean => sizeBytes > LARGE_BYTES;

/** `endpoint/job/attempt` */
export const deliveryName = ({ endpointId, jobId, attempt }: PendingDelivery): string =>
  `${endpointId}/${jobId}/${attempt}`;

/** What may be begun now beside what is under way, the longest due first. A receiver that is slow holds up only its own. */
export function chooseDue(
  pending: Iterable<PendingDelivery>,
  underWay: ReadonlyMap<string, PendingDelivery>,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: SendLimits },
): readonly PendingDelivery[] {
  const due = [...filterDue(pending, underWay, nowMs)].sort((one, other) => one.dueAtMs - other.dueAtMs);
  const perHost = new Map<string, number>();
  let [total, large] = [0, 0];
  const count = (delivery: PendingDelivery): void => {
    total += 1;
    large += isLarge(delivery) ? 1 : 0;
    perHost.set(delivery.host, (perHost.get(delivery.host) ?? 0) + 1);
  };
  for (const delivery of underWay.values()) count(delivery);
  const chosen: PendingDelivery[] = [];
  for (const delivery of due) {
    if (total >= limits.total) break;
    if ((perHost.get(delivery.host) ?? 0) >= limits.perHost) continue;
    if (isLarge(delivery) && large >= limits.large) continue;
    count(delivery);
    chosen.push(delivery);
  }
  return chosen;
}

function* filterDue(
  pending: Iterable<PendingDelivery>,
  underWay: ReadonlyMap<string, PendingDelivery>,
  nowMs: number,
): Generator<PendingDelivery> {
  for (const delivery of pending) {
    if (delivery.dueAtMs <= nowMs && !underWay.has(deliveryName(delivery))) yield delivery;
  }
}
