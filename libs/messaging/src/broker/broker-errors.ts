import { PlatformError } from '@berth/domain';
import {
  ClosedConnectionError,
  ConnectionError,
  DrainingConnectionError,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';

/** Numbers of the broker's errors that mean something to us. */
export const API_ERROR = {
  deleteFailed: 10057,
  noMessage: 10037,
  noSuitablePeers: 10005,
  sequenceNotFound: 10043,
  streamNameInUse: 10058,
  streamNotFound: 10059,
  /** All streams together have taken what the server may store. */
  serverStorageUsedUp: 10023,
  /** The same, of what the account may store. */
  accountStorageUsedUp: 10002,
  wrongLastSequence: 10071,
  storeFailed: 10077,
  /** A compare-and-set that lost against a write not yet finished. */
  wrongLastSequenceInFlight: 10164,
} as const;

export interface ApiError {
  /** HTTP-like class: 404, 503. */
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

/** The broker answered, and its answer is an error that the caller did not expect. */
export class BrokerApiError extends Error {
  readonly code: number;
  readonly status: number;

  constructor(doing: string, error: ApiError) {
    super(`${doing}: ${error.description} (${error.err_code})`);
    this.name = 'BrokerApiError';
    this.code = error.err_code;
    this.status = error.code;
  }
}

/**
 * True when no answer came: timeout, nobody listening, connection lost or closing. The request may have had its effect,
 * may still have it from a buffer, or may not.
 */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof RequestError) return error.isNoResponders() || !isRefusal(error.cause);
  return (
    error instanceof TimeoutError ||
    error instanceof NoRespondersError ||
    error instanceof ClosedConnectionError ||
    error instanceof DrainingConnectionError ||
    error instanceof ConnectionError
  );
}

/** True when nobody listens where a question went, so that it has had no effect. */
export const hasNoListener = (error: unknown): boolean =>
  error instanceof NoRespondersError ||
  (error instanceof RequestError && (error.isNoResponders() || error.cause instanceof NoRespondersError));

/** The broker refuses the subject itself, so asking again is of no use. */
const isRefusal = (cause: unknown): boolean => cause instanceof Error && cause.name === 'PermissionViolationError';

const RETRY_AFTER_SECONDS = 1;

export const brokerUnavailable = (cause: unknown): PlatformError =>
  new PlatformError('service-unavailable', 'The job store does not answer at the moment; try again.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

const FULL_RETRY_AFTER_SECONDS = 10;

/** A stream has reached its limit and refuses new messages rather than drop old ones. */
const STREAM_FULL =
  'The store is full and takes nothing new; try again when jobs have ended or expired, or give it more room.';

const SERVER_FULL = 'The broker has used up its storage and the job store takes nothing new; try again later.';

const full = (detail: string, cause: unknown): PlatformError =>
  new PlatformError('service-unavailable', detail, { cause, retryAfterSeconds: FULL_RETRY_AFTER_SECONDS });

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

const isStreamFull = ({ description, err_code: code }: ApiError): boolean =>
  code === API_ERROR.storeFailed && /maximum (bytes|messages) exceeded/.test(description);

/** The message was refused for want of room, of its stream or of the whole store. */
export const isStoreFull = (error: ApiError): boolean =>
  isStreamFull(error) ||
  error.err_code === API_ERROR.serverStorageUsedUp ||
  error.err_code === API_ERROR.accountStorageUsedUp;

/** None of several brokers, or too few, has the room that a new stream reserves. */
export const lacksRoomAtPeers = ({ description, err_code: code }: ApiError): boolean =>
  code === API_ERROR.noSuitablePeers && description.includes('insufficient storage');

/**
 * A stream was not placed for want of brokers. Those that have just started, each of them healthy, place nothing before
 * the one that leads has heard from enough of the others; where one stays away they say the same.
 */
export const lacksPeers = (error: ApiError): boolean =>
  error.err_code === API_ERROR.noSuitablePeers && !lacksRoomAtPeers(error);

/** The error that an unexpected error answer becomes: an outage that passes, or a fault of ours. */
export function unexpectedAnswer(doing: string, error: ApiError): Error {
  const cause = new BrokerApiError(doing, error);
  if (isStreamFull(error)) return full(STREAM_FULL, cause);
  if (error.err_code === API_ERROR.serverStorageUsedUp) return full(SERVER_FULL, cause);
  return error.code === UNAVAILABLE || error.code === TOO_MANY_REQUESTS ? brokerUnavailable(cause) : cause;
}
