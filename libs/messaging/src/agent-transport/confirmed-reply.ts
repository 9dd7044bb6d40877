import {
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  type NatsConnection,
} from '@nats-io/transport-node';

/** The broker says at once that nobody hears; silence for this long means that somebody did. */
const SILENCE_MS = 1_000;

/**
 * The reply of a handler whose answer must not be lost unnoticed. A reply subject lives as long as its asker, so of an
 * answer to an asker that has gone the broker says that nobody hears it, and `onUndelivered` takes back what was given.
 * An asker that breaks off later, or whose connection hangs, is not noticed here.
 */
export class ConfirmedReply<Result> {
  constructor(
    readonly result: Result,
    readonly onUndelivered: () => Promise<void>,
  ) {}
}

/** Sends an answer that the asker needs not answer in turn; true when nobody was there to hear it. */
export async function reachesNobody(connection: NatsConnection, subject: string, answer: string): Promise<boolean> {
  try {
    await connection.request(subject, answer, { timeout: SILENCE_MS });
    return false;
  } catch (error) {
    return isUnheard(error);
  }
}

/** The answer has no listener, or the broker does not let it go there. */
const isUnheard = (error: unknown): boolean => {
  const cause = error instanceof RequestError ? error.cause : error;
  return cause instanceof NoRespondersError || cause instanceof PermissionViolationError;
};
