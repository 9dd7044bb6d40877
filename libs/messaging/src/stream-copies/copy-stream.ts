import { count, objectOf, optional, type Members } from '@berth/domain/shape';
import { Silence, type Clock } from '@berth/lifecycle';
import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, BrokerApiError, brokerUnavailable } from '../broker/broker-errors.js';

/** What a copy of a stream holds. Sequences are those of the stream. */
export interface CopiedState {
  readonly messages: number;
  readonly bytes: number;
  readonly first_seq: number;
  readonly last_seq: number;
}

export interface StreamCopyOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly stream: string;
  /** Takes the next piece; the broker waits for it. */
  readonly onPiece: (piece: Uint8Array) => Promise<void>;
}

interface SnapshotAnswer {
  readonly state?: CopiedState;
}

export const COPIED_STATE = objectOf<CopiedState>({ messages: count, bytes: count, first_seq: count, last_seq: count });
const SNAPSHOT_ANSWER: Members<SnapshotAnswer> = { state: optional(COPIED_STATE) };

const PIECE_BYTES = 512 * 1024;
/** What the broker sends before it waits for a word: it lies in memory here. */
const WINDOW_BYTES = 8 * 1024 * 1024;
const SILENCE_MAX_MS = 20_000;
const OK = 204;

/**
 * Copies a stream in the broker's own form, with sequences, times and headers: all that lay there when it began, but for
 * what is removed while it is under way. Null: there is no such stream.
 *
 * @throws PlatformError `service-unavailable` when it does not come to its end
 * @throws what `onPiece` throws
 */
export async function copyStream(options: StreamCopyOptions): Promise<CopiedState | null> {
  const { broker, stream } = options;
  const inbox = broker.newInbox();
  const subscription = broker.connection.subscribe(inbox);
  try {
    const question = { deliver_subject: inbox, no_consumers: true, chunk_size: PIECE_BYTES, window_size: WINDOW_BYTES };
    const subject = `$JS.API.STREAM.SNAPSHOT.${stream}`;
    const { error, state } = await broker.ask<SnapshotAnswer>(subject, JSON.stringify(question), SNAPSHOT_ANSWER);
    if (error?.err_code === API_ERROR.streamNotFound) return null;
    if (error !== undefined) throw brokerUnavailable(new BrokerApiError(`copy ${stream}`, error));
    if (state === undefined) throw brokerUnavailable(new Error(`${stream} does not say what its copy holds`));
    await takePieces(options, subscription, () => subscription.unsubscribe());
    return state;
  } finally {
    subscription.unsubscribe();
  }
}

async function takePieces(
  { broker, clock, onPiece, stream }: StreamCopyOptions,
  pieces: AsyncIterable<Msg>,
  giveUp: () => void,
): Promise<void> {
  const silence = new Silence(clock, SILENCE_MAX_MS, giveUp);
  try {
    for await (const piece of pieces) {
      // From here on it is not the broker that is slow.
      silence.end();
      if (piece.data.byteLength === 0) {
        requireWhole(stream, piece);
        return;
      }
      await onPiece(piece.data);
      silence.heard();
      // The last piece wants no answer.
      if (piece.reply !== undefined && piece.reply !== '') broker.connection.publish(piece.reply);
    }
  } finally {
    silence.end();
  }
  throw brokerUnavailable(new Error(`the copy of ${stream} broke off`));
}

/** The end of a copy that failed looks like the end of one, but for its status. */
function requireWhole(stream: string, { headers }: Msg): void {
  const code = headers?.code ?? 0;
  if (code === 0 || code === OK) return;
  throw brokerUnavailable(new Error(`the copy of ${stream} broke off: ${headers?.status ?? ''}`));
}
