import { count, objectOf, optional, type Members } from '@berth/domain/shape';
import type { Msg } from '@nats-io/transport-node';
import type { Broker } from './broker.js';
import { API_ERROR, unexpectedAnswer } from './broker-errors.js';
import { readBatch } from './direct-batch.js';
import { BROKER_HEADERS } from './headers.js';
import { anyText } from './read-answer.js';

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  /** An expiry marker of the broker: it stands for "not there" but counts as a version. */
  readonly isMarker: boolean;
  readonly body: Uint8Array;
}

interface FoundMessage {
  readonly subject: string;
  readonly seq: number;
  readonly hdrs?: string;
  readonly data?: string;
}

interface LeaderAnswer {
  readonly message?: FoundMessage;
}

const LEADER_ANSWER: Members<LeaderAnswer> = {
  message: optional(
    objectOf<FoundMessage>({ subject: anyText, seq: count, hdrs: optional(anyText), data: optional(anyText) }),
  ),
};

const MARKER_LINE = `\r\n${BROKER_HEADERS.markerReason}:`;
const EMPTY = new Uint8Array();

/**
 * The last message of a subject as the stream's leader knows it: every write acknowledged before is seen.
 *
 * @throws PlatformError `service-unavailable` when no answer comes
 */
export async function readLatest(broker: Broker, stream: string, subject: string): Promise<StoredMessage | null> {
  const question = JSON.stringify({ last_by_subj: subject });
  const { error, message } = await broker.ask<LeaderAnswer>(
    `$JS.API.STREAM.MSG.GET.${stream}`,
    question,
    LEADER_ANSWER,
  );
  if (error?.err_code === API_ERROR.noMessage) return null;
  if (error !== undefined) throw unexpectedAnswer(`read ${subject}`, error);
  if (message === undefined) throw new Error(`read ${subject}: an answer without a message`);
  return {
    subject: message.subject,
    sequence: message.seq,
    isMarker: message.hdrs !== undefined && fromBase64(message.hdrs).includes(MARKER_LINE),
    body: message.data === undefined ? EMPTY : fromBase64(message.data),
  };
}

// Not the client's own decoding, which goes character by character: twice as long for an output of 256 KB.
const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64');

const NOT_FOUND = 404;

/**
 * One message by a direct get, which any replica may answer from what it has: null proves nothing on a replicated
 * stream. `next` asks for the first message at or after `sequence` that matches `subject`, which may hold wildcards.
 *
 * @throws PlatformError `service-unavailable` when no answer comes
 */
export async function readDirect(
  broker: Broker,
  stream: string,
  query: { readonly last: string } | { readonly next: string; readonly sequence: number },
): Promise<StoredMessage | null> {
  const answer =
    'last' in query
      ? await broker.askRaw(`$JS.API.DIRECT.GET.${stream}.${query.last}`)
      : await broker.askRaw(
          `$JS.API.DIRECT.GET.${stream}`,
          JSON.stringify({ seq: query.sequence, next_by_subj: query.next }),
        );
  const code = answer.headers?.code ?? 0;
  if (code === NOT_FOUND) return null;
  if (code !== 0) throw new Error(`direct get from ${stream}: ${answer.headers?.status ?? ''}`);
  return directMessage(answer);
}

export interface Page {
  readonly messages: readonly StoredMessage[];
  /** True when nothing that matches lies behind the page. */
  readonly isLast: boolean;
}

/** `from`: messages of all subjects in order. `lastOf`: the last message of each subject, in order of sequence. */
export type PageQuery = { readonly from: number; readonly batch: number } | { readonly lastOf: readonly string[] };

/**
 * Several messages by one direct get. The end of the data is an empty page.
 *
 * @throws PlatformError `service-unavailable` when the page does not come whole
 */
export async function readPage(broker: Broker, stream: string, query: PageQuery): Promise<Page> {
  const question =
    'from' in query
      ? JSON.stringify({ seq: query.from, batch: query.batch })
      : JSON.stringify({ multi_last: query.lastOf, batch: query.lastOf.length });
  const messages: StoredMessage[] = [];
  const { isLast } = await readBatch(broker, { stream, question }, (answer) => messages.push(directMessage(answer)));
  return { messages, isLast };
}

function directMessage({ headers, data }: Msg): StoredMessage {
  if (headers === undefined) throw new Error('direct get: an answer without headers');
  return {
    subject: headers.last(BROKER_HEADERS.subject),
    sequence: Number(headers.last(BROKER_HEADERS.sequence)),
    isMarker: headers.has(BROKER_HEADERS.markerReason),
    body: data,
  };
}
