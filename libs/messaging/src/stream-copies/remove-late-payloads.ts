import type { EndpointId } from '@berth/domain';
import type { Broker } from '../broker/broker.js';
import { readBatch } from '../broker/direct-batch.js';
import { BROKER_HEADERS } from '../broker/headers.js';
import { removeMessage } from '../broker/remove-messages.js';
import { readStreamHead } from '../broker/stream-head.js';
import { isSubjectToken } from '../topology/subject-token.js';
import { LOG_SHARDS, logShard } from '../topology/shards.js';
import { logStream } from '../topology/subjects.js';
import { COPIED_PAYLOADS } from './copied-streams.js';

/** When the last fact of each shard was stored, Unix ms; null: its stream holds none. */
type LastFacts = readonly (number | null)[];

/** As `outputBlobName` of the contracts has it. */
const OUTPUT_BLOB = /^out\d+$/;
const PAGE_MAX_ENTRIES = 256;
const PAGE_MAX_BYTES = 4 * 1024 ** 2;

/**
 * Payloads are copied after the logs, so some were stored for what no log of the copy knows: of an attempt that began
 * later, of which there will be another one under the same number. It would find its own places taken. What a fact names
 * was stored before it, so what came after the last fact of its shard is named by none; by a margin, since the brokers that
 * lead the two streams each take their own clock. An input has no attempt, and stays.
 *
 * @param since.atMs only what was stored since is looked at: when the copy began
 * @param since.clocksApartMs how far the clocks of brokers may be apart
 * @returns how many messages were removed
 * @throws PlatformError `service-unavailable`
 */
export async function removeLatePayloads(
  broker: Broker,
  { atMs: sinceMs, clocksApartMs }: { readonly atMs: number; readonly clocksApartMs: number },
): Promise<number> {
  const lastFacts = (await readLastFacts(broker)).map((atMs) => (atMs === null ? null : atMs + clocksApartMs));
  let removed = 0;
  for (const stream of COPIED_PAYLOADS) {
    const late = await lateIn(broker, { stream, sinceMs, lastFacts });
    for (const sequence of late) await removeMessage(broker, stream, sequence);
    removed += late.length;
  }
  return removed;
}

async function readLastFacts(broker: Broker): Promise<LastFacts> {
  const last: (number | null)[] = [];
  for (let shard = 0; shard < LOG_SHARDS; shard += 1) {
    const head = await readStreamHead(broker, logStream(shard));
    last.push(head?.span?.newestAtMs ?? null);
  }
  return last;
}

async function lateIn(
  broker: Broker,
  { lastFacts, sinceMs, stream }: { readonly stream: string; readonly sinceMs: number; readonly lastFacts: LastFacts },
): Promise<readonly number[]> {
  const head = await readStreamHead(broker, stream);
  if (head?.span === undefined || head.span === null || head.span.newestAtMs < sinceMs) return [];
  const late: number[] = [];
  let from: object = { start_time: new Date(sinceMs).toISOString() };
  for (;;) {
    const question = { next_by_subj: '>', ...from, batch: PAGE_MAX_ENTRIES, max_bytes: PAGE_MAX_BYTES };
    const end = await readBatch(broker, { stream, question: JSON.stringify(question) }, ({ headers }) => {
      const subject = headers?.get(BROKER_HEADERS.subject) ?? '';
      const atMs = Date.parse(headers?.get(BROKER_HEADERS.timestamp) ?? '');
      if (isLate(subject, atMs, lastFacts)) late.push(Number(headers?.get(BROKER_HEADERS.sequence)));
    });
    if (end.isLast) return late;
    from = { seq: end.lastSequence + 1 };
  }
}

/** @param subject `blob.S.{endpoint}.{job}.{name}.…`, `out.S.{endpoint}.…` */
export function isLate(subject: string, atMs: number, lastFacts: LastFacts): boolean {
  const [family, , endpointId = '', , name = ''] = subject.split('.');
  const isOfAttempt = family !== 'blob' || OUTPUT_BLOB.test(name);
  if (!isSubjectToken(endpointId) || !isOfAttempt) return false;
  const lastFactMs = lastFacts[logShard(endpointId as EndpointId)] ?? null;
  return lastFactMs !== null && atMs > lastFactMs;
}
