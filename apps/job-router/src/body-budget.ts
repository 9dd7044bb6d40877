import { PlatformError } from '@berth/domain';
import type { MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Bodies that come in at one time, all together, and as much that goes out: 25 of the largest, or any number of usual ones. */
const BUDGET_BYTES = 512 * 1024 ** 2;

/** Answers below it wait in the sockets' own buffers. */
const LARGE_ANSWER_BYTES = 64 * 1024;

/** A caller that has taken nothing of a large answer for so long is cut off: it holds what others could be given. */
const STALLED_AFTER_MS = 60_000;

const RETRY_AFTER_SECONDS = 1;

/** Refuses bodies that would not fit into memory beside those that are under way already. */
export class BodyBudget {
  readonly #budgetBytes: number;
  #takenBytes = 0;

  constructor(budgetBytes = BUDGET_BYTES) {
    this.#budgetBytes = budgetBytes;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** @throws PlatformError `service-unavailable` when the bodies under way leave no room */
  take(bytes: number): () => void {
    if (this.#takenBytes > 0 && this.#takenBytes + bytes > this.#budgetBytes) {
      throw new PlatformError('service-unavailable', 'Too many large bodies are under way at the moment; try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#takenBytes += bytes;
    let isHeld = true;
    return () => {
      if (isHeld) this.#takenBytes -= bytes;
      isHeld = false;
    };
  }
}

/** Both directions, each with a budget of its own. */
export function limitBodies(fastify: FastifyInstance, metrics: MetricRegistry): void {
  const [incoming, outgoing] = [new BodyBudget(), new BodyBudget()];
  metrics.gaugeOf({ name: 'router_bodies_bytes', help: 'Bodies that are coming in.' }, () => incoming.takenBytes);
  metrics.gaugeOf(
    { name: 'router_answers_bytes', help: 'Large answers that callers have not taken yet.' },
    () => outgoing.takenBytes,
  );
  limitIncoming(fastify, incoming);
  limitAnswers(fastify, outgoing);
}

/** From the request line until its body has been read, or its connection is gone. */
function limitIncoming(fastify: FastifyInstance, budget: BodyBudget): void {
  fastify.addHook('onRequest', async (request, reply) => {
    const bytes = announcedBytes(request);
    if (bytes > 0) releaseWhenRead(request, reply, budget.take(bytes));
  });
}

/** From the moment it is handed to the socket until the caller has it, or its connection is gone. */
export function limitAnswers(fastify: FastifyInstance, budget: BodyBudget, stalledAfterMs = STALLED_AFTER_MS): void {
  fastify.addHook('onSend', async (_request, reply, payload) => {
    const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : 0;
    if (bytes < LARGE_ANSWER_BYTES) return payload;
    reply.raw.once('close', budget.take(bytes));
    reply.raw.socket?.setTimeout(stalledAfterMs);
    return payload;
  });
}

/** One that does not announce its size counts as the largest that its path takes. */
function announcedBytes({ headers, routeOptions }: FastifyRequest): number {
  const limit = routeOptions.bodyLimit ?? 0;
  if (headers['transfer-encoding'] !== undefined) return limit;
  return Math.min(Number(headers['content-length'] ?? 0), limit);
}

function releaseWhenRead(request: FastifyRequest, reply: FastifyReply, release: () => void): void {
  request.raw.once('end', release);
  reply.raw.once('close', release);
}
