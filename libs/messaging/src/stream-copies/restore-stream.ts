import { PlatformError } from '@berth/domain';
import { count, objectOf, optional, text, type Members } from '@berth/domain/shape';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { StreamConfig } from '@nats-io/jetstream';
import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import {
  API_ERROR,
  BrokerApiError,
  brokerUnavailable,
  hasNoListener,
  isUnanswered,
  lacksPeers,
} from '../broker/broker-errors.js';
import { readAnswer, type BrokerAnswer } from '../broker/read-answer.js';
import type { CopiedState } from './copy-stream.js';

export interface StreamRestoreOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly random: Random;
  /** As this installation has the stream, whatever it was like where it was copied. */
  readonly config: Partial<StreamConfig> & Pick<StreamConfig, 'name'>;
  readonly state: CopiedState;
  /** As they were copied. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

interface Restored {
  readonly messages: number;
  readonly last_seq: number;
}

interface BeginAnswer {
  readonly deliver_subject?: string;
}

interface EndAnswer {
  readonly state?: Restored;
}

const BEGIN_ANSWER: Members<BeginAnswer> = { deliver_subject: optional(text()) };
const END_ANSWER: Members<EndAnswer> = {
  state: optional(objectOf<Restored>({ messages: count, last_seq: count })),
};

/** The broker stores a piece before it answers it. */
const PIECE_ANSWER_MS = 60_000;
/** After the last piece it puts the stream in order, and says nothing meanwhile. */
const END_ANSWER_MS = 10 * 60_000;
const PIECES_AT_ONCE = 8;
/** About half a minute. */
const READY_ATTEMPTS_MAX = 35;
const READY_BASE_MS = 50;
const READY_MAX_MS = 1_000;

/**
 * Makes a stream out of a copy of it: the same messages under the same sequences. `in-use`: there is one of that name.
 *
 * @throws PlatformError `service-unavailable` when no answer comes
 * @throws BrokerApiError when the broker refuses, or makes less of it than was copied
 */
export async function restoreStream(options: StreamRestoreOptions): Promise<'restored' | 'in-use'> {
  const { broker, config, state } = options;
  const begun = await onceReady(options, () => begin(options), isNotPlaced);
  if (isInUse(begun)) return 'in-use';
  const deliverTo = requireGood(config.name, begun).deliver_subject ?? '';
  await sendPieces(options, deliverTo);
  const end = readAnswer<EndAnswer>(END_ANSWER, (await send(broker, deliverTo, { timeoutMs: END_ANSWER_MS })).data);
  if (end.kind === 'unreadable') throw brokerUnavailable(new Error(`restore ${config.name}: ${end.reason}`));
  requireSame(config.name, state, requireGood(config.name, end.value).state);
  return 'restored';
}

/** @throws BrokerApiError where it is for want of brokers that the stream is not placed; it has had no effect then */
async function begin({ broker, config, state }: StreamRestoreOptions): Promise<BrokerAnswer<BeginAnswer>> {
  const subject = `$JS.API.STREAM.RESTORE.${config.name}`;
  const answer = await broker.ask<BeginAnswer>(subject, JSON.stringify({ config, state }), BEGIN_ANSWER);
  if (answer.error !== undefined && lacksPeers(answer.error)) requireGood(config.name, answer);
  return answer;
}

const isNotPlaced = (error: unknown): boolean => error instanceof BrokerApiError;

const RESTORE_IN_USE = 10130;

const isInUse = ({ error }: BrokerAnswer<BeginAnswer>): boolean =>
  error !== undefined && [RESTORE_IN_USE, API_ERROR.streamNameInUse].includes(error.err_code);

async function sendPieces(options: StreamRestoreOptions, deliverTo: string): Promise<void> {
  const { broker, config, pieces } = options;
  const underWay: Promise<void>[] = [];
  let isHeard = false;
  for await (const piece of pieces) {
    const send = () => sendPiece(broker, { stream: config.name, deliverTo, piece });
    if (!isHeard) {
      // Alone, since what is sent with it could overtake it.
      await onceReady(options, send, isNotHeard);
      isHeard = true;
      continue;
    }
    const answer = send();
    // It is awaited in its turn, and by nobody where an earlier one has failed.
    answer.catch(() => undefined);
    underWay.push(answer);
    // The pieces are answered in their order.
    if (underWay.length >= PIECES_AT_ONCE) await underWay.shift();
  }
  for (const answer of underWay) await answer;
}

/** Where the broker listens for pieces, one broker may tell us before all of them know. */
const isNotHeard = (error: unknown): boolean => error instanceof PlatformError && hasNoListener(error.cause);

/** Brokers that start, or that have not told each other yet, are asked again. */
const onceReady = <T>(
  { clock, random }: StreamRestoreOptions,
  action: () => Promise<T>,
  isRetriable: (error: unknown) => boolean,
): Promise<T> =>
  retry(action, {
    ...{ clock, random, isRetriable },
    attemptsMax: READY_ATTEMPTS_MAX,
    baseDelayMs: READY_BASE_MS,
    maxDelayMs: READY_MAX_MS,
  });

async function sendPiece(
  broker: Broker,
  { deliverTo, piece, stream }: { readonly stream: string; readonly deliverTo: string; readonly piece: Uint8Array },
): Promise<void> {
  const { data } = await send(broker, deliverTo, { piece, timeoutMs: PIECE_ANSWER_MS });
  if (data.byteLength === 0) return;
  const answer = readAnswer<object>({}, data);
  if (answer.kind === 'value') requireGood(stream, answer.value);
}

async function send(
  { connection }: Broker,
  subject: string,
  { piece, timeoutMs }: { readonly piece?: Uint8Array; readonly timeoutMs: number },
): Promise<Msg> {
  try {
    return await connection.request(subject, piece, { timeout: timeoutMs });
  } catch (error) {
    throw isUnanswered(error) ? brokerUnavailable(error) : error;
  }
}

function requireGood<Answer extends object>(stream: string, answer: BrokerAnswer<Answer>): Answer {
  if (answer.error !== undefined) throw new BrokerApiError(`restore ${stream}`, answer.error);
  return answer;
}

/** Messages whose time was over while they lay in the copy are let go of at once. */
function requireSame(stream: string, wanted: CopiedState, found: Restored | undefined): void {
  if (found?.last_seq === wanted.last_seq && found.messages <= wanted.messages) return;
  const made = found === undefined ? 'nothing' : `${found.messages} messages up to ${found.last_seq}`;
  throw new Error(`restore ${stream}: the broker made ${made} of ${wanted.messages} up to ${wanted.last_seq}`);
}
