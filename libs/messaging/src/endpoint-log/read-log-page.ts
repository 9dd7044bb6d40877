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

/** Few enough for one page to be nothing beside the state that is made of it. */
const PAGE_MAX_ENTRIES = 512;
const PAGE_MAX_BYTES = 4 * 1024 ** 2;

/**
 * The next entries of an endpoint by one direct get, which any replica may answer. It holds the last entry that it says it
 * sent, and each names the one sent before it, so that nothing can be missing in between.
 *
 * @throws PlatformError `service-unavailable` when the page does not come whole
 */
export async function readLogPage(broker: Broker, { after, stream, subject }: LogPageQuery): Promise<LogPage> {
  const question = { seq: after + 1, next_by_subj: subject, batch: PAGE_MAX_ENTRIES, max_bytes: PAGE_MAX_BYTES };
  const entries: LogEntry[] = [];
  let lastSequence = 0;
  let isWhole = true;
  const end = await readBatch(broker, { stream, question: JSON.stringify(question) }, (answer) => {
    const { before, entry } = pageEntry(answer);
    isWhole &&= before === lastSequence;
    lastSequence = entry.sequence;
    entries.push(entry);
  });
  const hasNone = entries.length === 0 && !end.isLast;
  if (!isWhole || hasNone || end.lastSequence !== lastSequence) {
    throw brokerUnavailable(new Error(`direct get from ${stream}: a page with a gap`));
  }
  return { entries, isLast: end.isLast };
}

/** What the broker adds stands behind what was stored, under whatever names. */
function pageEntry({ data, headers }: Msg): { readonly before: number; readonly entry: LogEntry } {
  const sequence = lastNumber(headers, BROKER_HEADERS.sequence);
  return {
    before: lastNumber(headers, BROKER_HEADERS.lastSequence),
    entry: readLogMessage({ sequence, headers, body: data }),
  };
}

const lastNumber = (headers: MsgHdrs | undefined, name: string): number => Number(headers?.last(name) ?? Number.NaN);
