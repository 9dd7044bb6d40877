import { PlatformError } from './platform-error.js';

/** A message that is nothing of ours: where it lies, under which name, and what is wrong with it. */
export interface UnreadableMessage {
  /** Kind of the place, of which there are few: `endpoint log`, `bucket hosts`. */
  readonly place: string;
  /** Its key or subject. */
  readonly key: string;
  readonly reason: string;
}

/**
 * The caller that asked for exactly this message gets this error; it is the fault of nothing else, and of no other
 * message.
 */
export class UnreadableMessageError extends PlatformError {
  readonly unreadable: UnreadableMessage;

  /** @param detail for the caller: what cannot be read */
  constructor(detail: string, unreadable: UnreadableMessage) {
    super('internal-error', detail, { cause: new Error(`${unreadable.key}: ${unreadable.reason}`) });
    this.name = 'UnreadableMessageError';
    this.unreadable = unreadable;
  }
}

export const isUnreadable = (error: unknown): error is UnreadableMessageError =>
  error instanceof UnreadableMessageError;
