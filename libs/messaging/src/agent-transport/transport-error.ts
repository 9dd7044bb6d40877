export type TransportFailure =
  | 'no-responder' // nobody listens on the subject at present
  | 'timeout' // no answer in time; the request may have been handled
  | 'unanswered' // whoever was asked cannot answer any more; the request may have been handled
  | 'aborted' // the caller gave up
  | 'not-connected' // the broker is away
  | 'forbidden' // the broker refuses the subject
  | 'unreadable' // the answer is none to this question
  | 'wire-version'; // the two sides speak different versions

/** A request that got no answer that could be used. */
export class TransportError extends Error {
  readonly failure: TransportFailure;
  /** The same request may succeed later. */
  readonly isRetriable: boolean;

  constructor(
    failure: TransportFailure,
    message: string,
    options: { readonly isRetriable: boolean; readonly cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = 'TransportError';
    this.failure = failure;
    this.isRetriable = options.isRetriable;
  }
}
