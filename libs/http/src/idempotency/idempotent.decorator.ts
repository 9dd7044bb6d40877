import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { IDEMPOTENCY_KEY_MAX } from './idempotency-key.js';

export const IDEMPOTENT_METADATA = 'berth:idempotent';

export interface IdempotentOptions {
  /** The answer shows a secret: only a key with the very same rights gets it by asking again, any other 409. */
  readonly showsSecret?: boolean;
}

const DESCRIPTION = [
  'Makes it safe to send the request again: within 24 hours the same key with the same body is answered as the first',
  'time, with `Idempotency-Replayed: true`, and creates nothing. Another body under the same key is 409, and so is a',
  'request whose first one does not end in time. A request that failed leaves no trace. Keys count per account and',
  'path; bodies are the same when they are the same JSON value.',
].join(' ');

/**
 * A handler that creates something, for which callers may send `Idempotency-Key`. Its answer and everything that it
 * writes are one transaction; it fails by throwing only.
 */
export const Idempotent = (options: IdempotentOptions = {}): MethodDecorator =>
  applyDecorators(
    SetMetadata(IDEMPOTENT_METADATA, options),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: DESCRIPTION,
      schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX, pattern: '^[!-~]+$' },
      example: '3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55',
    }),
  );
