import { deliveryDueAtMs, deliverySize, type Delivery, type DeliveryKey } from '@berth/domain';
import type { TailMessage } from '../broker/tail-session.js';
import { parseDeliverySubject } from '../topology/subjects.js';

/** What a reader of headers alone learns of a delivery. Without a due time it is over. */
const HEADERS = {
  dueAt: 'Berth-Due-At',
  createdAt: 'Berth-Created-At',
  host: 'Berth-Host',
  size: 'Berth-Size',
} as const;

/** A delivery that waits for a try, or is being tried. */
export interface PendingDelivery extends DeliveryKey {
  readonly dueAtMs: number;
  readonly createdAtMs: number;
  /** Host and port of the receiver. */
  readonly host: string;
  /** About how large a request will be. */
  readonly sizeBytes: number;
}

export function deliveryHeaders(delivery: Delivery): Record<string, string> {
  const dueAtMs = deliveryDueAtMs(delivery);
  if (dueAtMs === null) return {};
  return {
    [HEADERS.dueAt]: `${dueAtMs}`,
    [HEADERS.createdAt]: `${delivery.createdAtMs}`,
    [HEADERS.host]: URL.canParse(delivery.url) ? new URL(delivery.url).host : '',
    [HEADERS.size]: `${deliverySize(delivery)}`,
  };
}

export type DeliverySighting =
  | { readonly kind: 'pending'; readonly pending: PendingDelivery }
  | { readonly kind: 'over'; readonly key: DeliveryKey };

/** Reads a message of the deliveries' streams by its headers; null when it is none that can be read. */
export function readDeliverySighting({ subject, headers }: TailMessage): DeliverySighting | null {
  const key = parseDeliverySubject(subject);
  if (key === null) return null;
  if (headers?.has(HEADERS.dueAt) !== true) return { kind: 'over', key };
  const pending = {
    ...key,
    dueAtMs: Number(headers.get(HEADERS.dueAt)),
    createdAtMs: Number(headers.get(HEADERS.createdAt)),
    host: headers.get(HEADERS.host),
    sizeBytes: Number(headers.get(HEADERS.size)),
  };
  // Who tells receivers sorts by these: one that is no number would spoil the order of all others.
  const isWhole = [pending.dueAtMs, pending.createdAtMs, pending.sizeBytes].every(Number.isFinite);
  return isWhole ? { kind: 'pending', pending } : null;
}
