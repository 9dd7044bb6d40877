import { PlatformError } from '@berth/domain';
import type { MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Bodies that this process takes in at one time, all together: 25 of the largest, or any number of usual ones. */
const BUDGET_BYTES = 512 * 1024 ** 2;

const RETRY_AFTER_SECONDS = 1;

/** Refuses bodies that would not fit into memory beside those that are coming in already. */
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
      throw new PlatformError('service-unavailable', 'Too many large bodies are coming in at the moment; try again.', {
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

/** From the request line until its body has been read, or its connection is gone. */
export function limitBodies(fastify: FastifyInstance, metrics: MetricRegistry): void {
  const budget = new BodyBudget();
  metrics.gaugeOf({ name: 'router_bodies_bytes', help: 'Bodies that are coming in.' }, () => budget.takenBytes);
  fastify.addHook('onRequest', async (request, reply) => {
    const bytes = announcedBytes(request);
    if (bytes > 0) releaseWhenRead(request, reply, budget.take(bytes));
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
