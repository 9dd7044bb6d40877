import type { EndpointSnapshot } from '@berth/contracts';
import { parseIdempotencyKey, takeBody, traceparentOf, type TakenBody } from '@berth/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The parts that came with a request for jobs. */
export interface IncomingRequest {
  /**
   * Hands over the body, once. Callers of `/runsync` are held long after their body has been stored, and a body that
   * nobody refers to any more costs nothing and needs no room.
   */
  readonly takeBody: () => TakenBody;
  readonly endpoint: EndpointSnapshot;
  readonly traceparent: string | null;
  /** Null: the caller did not name the request. */
  readonly idempotencyKey: string | null;
  /** Told before the answer when the request had come before. */
  readonly onReplay: () => void;
}

/** @throws PlatformError `invalid-header` */
export const incomingRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: EndpointSnapshot,
): IncomingRequest => ({
  takeBody: () => takeBody(request),
  endpoint,
  traceparent: traceparentOf(request),
  idempotencyKey: parseIdempotencyKey(request.headers['idempotency-key']),
  onReplay: () => {
    void reply.header('idempotency-replayed', 'true');
  },
});
