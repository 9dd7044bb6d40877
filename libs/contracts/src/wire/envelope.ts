import { flag, objectOf, readShape, text, type Reading } from '@berth/domain/shape';

/**
 * Version of all messages between our processes. A receiver refuses another major version with `wire-version`, so that
 * mixed versions fail loudly and by name.
 */
export const WIRE_VERSION = 1;

/** Header that carries the W3C trace context from the HTTP request to the agent. */
export const TRACEPARENT_HEADER = 'traceparent';

export interface WireRequest<Body> {
  readonly v: typeof WIRE_VERSION;
  readonly body: Body;
}

/** `code` is an `ErrorCode`, or `wire-version`. `isRetriable`: the same request may succeed later. */
export interface WireError {
  readonly code: string;
  readonly detail: string;
  readonly isRetriable: boolean;
}

/** A detail is as long as the broker lets it be. */
export const wireErrorShape = objectOf<WireError>({
  code: text(),
  detail: text(Number.POSITIVE_INFINITY),
  isRetriable: flag,
});

export const readWireError = (value: unknown): Reading<WireError> => readShape(wireErrorShape, value);

export type WireReply<Result> =
  | { readonly v: typeof WIRE_VERSION; readonly result: Result }
  | { readonly v: typeof WIRE_VERSION; readonly error: WireError };
