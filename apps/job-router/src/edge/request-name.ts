import { createHash } from 'node:crypto';
import type { RequestName } from './jobs.port.js';

/**
 * The name by which a request is the same when it comes again; null where its caller did not name it, which then costs
 * nothing. The hash is of the very text: an input is kept as it came, so another way to write the same value is another
 * job, and two numbers that a parser rounds to one are not the same.
 */
export const requestName = (
  operation: RequestName['operation'],
  idempotencyKey: string | null,
  body: string,
): RequestName | null =>
  idempotencyKey === null
    ? null
    : { operation, idempotencyKey, bodyHash: createHash('sha256').update(body).digest('hex') };
