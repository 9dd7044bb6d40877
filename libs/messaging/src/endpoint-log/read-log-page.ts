import type { LogEntry } from '@berth/endpoint-log';
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { readBatch } from '../broker/direct-batch.js';
import { BROKER_HEADERS } from '../broker/headers.js';
import { readLogMessage } from './log-batch-codec.js';

export interface LogPageQuery {
  readonly stream: string;
  readonly subject: string;
  /** The page begins behind this sequence. */
  readonly after: number;
}

export interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly isLast: boolean;
}

/** An entry of whichever log of the shard. */
export interface ShardEntry {
  readonly subject: string;
  readonly entry: LogEntry;
}

export interface ShardPage {
  readonly entries: readonly ShardEntry[];
  readonly isLast: boolean;
}

/** Few enough for one page to be nothing beside the state that is made of it. */
const PAGE_MAX_ENTRIES = 512;
const PAGE_MAX_BYTES = 4 * 1024 ** 2;

/**
 * The next entries of an endpoint by one direct get, which any replica may answer. It holds the last entry that it says it
 * sent, and each names the one sent before it, so that nothing can be missing in between.
 *
 * @throws PlatformError `service-unavailable` when the page does not come whole
 */
export async function readLogPage(broker: Broker, query: LogPageQuery): Promise<LogPage> {
  const { entries, isLast } = await readPage(broker, query, { batch: PAGE_MAX_ENTRIES, max_bytes: PAGE_MAX_BYTES });
  return { entries: entries.map(({ entry }) => entry), isLast };
}

/** A page of all logs is made into rows of one transaction. */
const SHARD_PAGE_MAX_ENTRIES = 256;
const SHARD_PAGE_MAX_BYTES = 2 * 1024 ** 2;

/**
 * The next entries of a shard, whichever endpoints they are of, as `readLogPage` reads those of one.
 *
 * @param query with a subject that stands for all logs of the shard
 * @throws PlatformError `service-unavailable` when the page does not come whole
 */
export const readShardPage = (broker: Broker, query: LogPageQuery): Promise<ShardPage> =>
  readPage(broker, query, { batch: SHARD_PAGE_MAX_ENTRIES, max_bytes: SHARD_PAGE_MAX_BYTES });

async function readPage(
  broker: Broker,
  { after, stream, subject }: LogPageQuery,
  size: { readonly batch: number; readonly max_bytes: number },
): Promise<ShardPage> {
  const question = { seq: after + 1, next_by_subj: subject, ...size };
  const entries: ShardEntry[] = [];
  let lastSequence = 0;
  let isWhole = true;
  const end = await readBatch(broker, { stream, question: JSON.stringify(question) }, (answer) => {
    const { before, entry, subject: from } = pageEntry(answer);
    isWhole &&= before === lastSequence;
    lastSequence = entry.sequence;
    entries.push({ subject: from, entry });
  });
  const hasNone = entries.length === 0 && !end.isLast;
  if (!isWhole || hasNone || end.lastSequence !== lastSequence) {
    throw brokerUnavailable(new Error(`direct get from ${stream}: a page with a gap`));
  }
  return { entries, isLast: end.isLast };
}

/** The headers that the broker adds stand behind those that were stored, under whatever names. */
function pageEntry({ data, headers }: Msg): ShardEntry & { readonly before: number } {
  const sequence = lastNumber(headers, BROKER_HEADERS.sequence);
  return {
    subject: headers?.last(BROKER_HEADERS.subject) ?? '',
    before: lastNumber(headers, BROKER_HEADERS.lastSequence),
    entry: readLogMessage({ sequence, headers, body: data }),
  };
}

const lastNumber = (headers: MsgHdrs | undefined, name: string): number => Number(headers?.last(name) ?? Number.NaN);
