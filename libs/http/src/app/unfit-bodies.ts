import { PlatformError } from '@berth/domain';
import type { FastifyRequest } from 'fastify';
import { READ_JSON_TYPES } from './json-type.js';

const MEDIA_TYPE = 'Send the body as application/json.';
const CODING = 'Send the body as it is, without a content coding.';

/** Methods whose bodies nobody reads. */
const WITHOUT_BODY: readonly string[] = ['GET', 'HEAD', 'TRACE'];

/** Why the body is refused by what its headers say of it, before the key is looked at; null where it may come. */
export function refusalOfBody(request: FastifyRequest): PlatformError | null {
  if (!isRead(request)) return null;
  const { headers, routeOptions } = request;
  if (!READ_JSON_TYPES.test(headers['content-type'] ?? ''))
    return new PlatformError('unsupported-media-type', MEDIA_TYPE);
  // Unpacking would let a small body be a huge one.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    return new PlatformError('unsupported-media-type', CODING);
  }
  if (Number(headers['content-length'] ?? 0) <= (routeOptions.bodyLimit ?? 0)) return null;
  return new PlatformError('body-too-large', 'The body is larger than this path accepts.');
}

/** A content type alone counts as a body, whatever there is of it, unless it is said to be empty. */
function isRead({ headers, method }: FastifyRequest): boolean {
  const { 'content-length': length, 'content-type': type, 'transfer-encoding': transfer } = headers;
  if (WITHOUT_BODY.includes(method) || length === '0') return false;
  return [length, type, transfer].some((each) => each !== undefined);
}
