import { MsgHdrsImpl, type MsgHdrs } from '@nats-io/transport-node';

/** Header names of the broker's own protocol. Ours begin with `Berth-` and stand with what they describe. */
export const BROKER_HEADERS = {
  expectedSubjectSequence: 'Nats-Expected-Last-Subject-Sequence',
  lastSequence: 'Nats-Last-Sequence',
  markerReason: 'Nats-Marker-Reason',
  pending: 'Nats-Num-Pending',
  rollup: 'Nats-Rollup',
  sequence: 'Nats-Sequence',
  streamSource: 'Nats-Stream-Source',
  subject: 'Nats-Subject',
  timestamp: 'Nats-Time-Stamp',
  ttl: 'Nats-TTL',
} as const;

/**
 * Headers from names and values in one step: `set` of the client validates and searches each time, which is half the
 * cost of a small publish. Values must hold no line breaks.
 */
export function headersOf(values: Readonly<Record<string, string>>): MsgHdrs {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(values)) lists[name] = [value];
  return MsgHdrsImpl.fromRecord(lists);
}

/** The broker's time to live knows whole seconds only, and none below one. */
export const ttlHeader = (ttlMs: number): string => `${Math.max(1, Math.ceil(ttlMs / 1000))}s`;
