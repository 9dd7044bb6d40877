/**
 * `unreadable`: no text that a box has written. `unknown-key`: sealed with a key that this box does not have.
 * `not-genuine`: changed since it was sealed, or sealed for something else.
 */
export type SecretErrorReason = 'unreadable' | 'unknown-key' | 'not-genuine';

/** A sealed secret that cannot be opened. The message names neither the secret nor a key. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
  readonly reason: SecretErrorReason;

  constructor(reason: SecretErrorReason, detail: string, options: { readonly cause?: unknown } = {}) {
    super(detail, options);
    this.reason = reason;
  }
}
