import { WIRE_VERSION, readWireError, type WireError, type WireReply, type WireRequest } from '@berth/contracts';
import { PlatformError, type ErrorCode } from '@berth/domain';
import { TransportError } from './transport-error.js';

/** Code of a message whose version the receiver does not speak. The only wire code that is no `ErrorCode`. */
const WIRE_VERSION_CODE = 'wire-version';

const RETRIABLE: ReadonlySet<string> = new Set<ErrorCode>(['internal-error', 'rate-limited', 'service-unavailable']);

export const encodeRequest = (body: unknown): string =>
  JSON.stringify({ v: WIRE_VERSION, body } satisfies WireRequest<unknown>);

export const encodeResult = (result: unknown): string =>
  JSON.stringify({ v: WIRE_VERSION, result: result ?? null } satisfies WireReply<unknown>);

export const encodeError = (error: WireError): string =>
  JSON.stringify({ v: WIRE_VERSION, error } satisfies WireReply<unknown>);

/** The body of a request or of a one-way message. @throws TransportError `wire-version` when it is not of our version */
export function decodeRequest(text: string): unknown {
  const message = parse(text);
  if (message['v'] !== WIRE_VERSION || !('body' in message)) throw otherVersion(message);
  return message['body'];
}

/** The result of a reply. @throws PlatformError the error that the reply carries. @throws TransportError */
export function decodeReply(text: string): unknown {
  const message = parse(text);
  if (message['v'] !== WIRE_VERSION) throw otherVersion(message);
  if ('error' in message) throw errorOf(message['error']);
  return message['result'];
}

/** A thrown value as it stands on the wire; an error that was not made to be shown keeps its text to itself. */
export function toWireError(thrown: unknown): WireError {
  if (thrown instanceof PlatformError) {
    return { code: thrown.code, detail: thrown.message, isRetriable: RETRIABLE.has(thrown.code) };
  }
  if (thrown instanceof TransportError) {
    return { code: WIRE_VERSION_CODE, detail: thrown.message, isRetriable: false };
  }
  return {
    code: 'internal-error',
    detail: 'Something failed on the other side; its log says what.',
    isRetriable: true,
  };
}

/** Whether the same request may succeed later. */
export const isRetriable = (error: unknown): boolean =>
  error instanceof TransportError ? error.isRetriable : error instanceof PlatformError && RETRIABLE.has(error.code);

function errorOf(value: unknown): Error {
  const reading = readWireError(value);
  if (reading.kind === 'value') return thrownOf(reading.value);
  return new TransportError('unreadable', `An error came that cannot be read: ${reading.reason}.`, {
    isRetriable: true,
  });
}

const thrownOf = ({ code, detail, isRetriable: mayRetry }: WireError): Error =>
  code === WIRE_VERSION_CODE
    ? new TransportError('wire-version', detail, { isRetriable: mayRetry })
    : new PlatformError(code as ErrorCode, detail);

function parse(text: string): Record<string, unknown> {
  try {
    const message: unknown = JSON.parse(text);
    if (typeof message === 'object' && message !== null) return message as Record<string, unknown>;
  } catch {
    // Without its cause, which quotes the text: a worker's variables may stand there.
    throw new TransportError('wire-version', 'The message is not JSON.', { isRetriable: false });
  }
  throw new TransportError('wire-version', 'The message is not an object.', { isRetriable: false });
}

const otherVersion = ({ v }: Record<string, unknown>): TransportError =>
  new TransportError(
    'wire-version',
    `This process speaks wire version ${WIRE_VERSION}, the message ${JSON.stringify(v)}.`,
    {
      isRetriable: false,
    },
  );
