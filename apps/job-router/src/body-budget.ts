import { BodyBudget, findCaller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance } from 'fastify';
import type { Socket } from 'node:net';

/** Answers below it wait in the sockets' own buffers. */
export const LARGE_ANSWER_BYTES = 64 * 1024;

/** A caller that has taken nothing of a large answer for so long is cut off: it holds what others could be given. */
export const STALLED_AFTER_MS = 60_000;

/** What callers take of a large answer in a second, on the whole; who takes less is cut off too. */
const TAKEN_PER_SECOND_BYTES = 16 * 1024;
const SECOND_MS = 1_000;

export interface AnswerLimits {
  readonly clock: Clock;
  /** Other than the default only where a test waits for it. */
  readonly stalledAfterMs?: number;
}

/** What goes out, all of it together and each account's; what comes in is bounded where it is read. */
export function limitBodies(fastify: FastifyInstance, metrics: MetricRegistry, clock: Clock): void {
  const outgoing = new BodyBudget();
  metrics.gaugeOf(
    { name: 'router_answers_bytes', help: 'Large answers that callers have not taken yet.' },
    () => outgoing.takenBytes,
  );
  limitAnswers(fastify, outgoing, { clock });
}

/** From the moment it is handed to the socket until the caller has it, or its connection is gone. */
export function limitAnswers(
  fastify: FastifyInstance,
  budget: BodyBudget,
  { clock, stalledAfterMs = STALLED_AFTER_MS }: AnswerLimits,
): void {
  fastify.addHook('onSend', async (request, reply, payload) => {
    const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : 0;
    if (bytes < LARGE_ANSWER_BYTES) return payload;
    const { socket } = request.raw;
    const release = budget.take(bytes, findCaller(request)?.accountId);
    const inTime = cutOffLate(socket, takenWithinMs(bytes, stalledAfterMs), clock);
    const settle = (): void => {
      socket.off('close', settle);
      inTime();
      release();
    };
    reply.raw.once('close', settle);
    // An answer that waits behind another one on its connection is not told that the connection is gone.
    socket.once('close', settle);
    socket.setTimeout(stalledAfterMs);
    return payload;
  });
}

/** How long a caller may take for a text of this size, however steadily it takes it. */
export const takenWithinMs = (bytes: number, stalledAfterMs: number): number =>
  stalledAfterMs + (bytes / TAKEN_PER_SECOND_BYTES) * SECOND_MS;

/** Returns what to call when the caller has everything. */
export function cutOffLate(socket: Socket, withinMs: number, clock: Clock): () => void {
  const taken = new AbortController();
  void clock.sleep(withinMs, taken.signal).then(() => {
    if (!taken.signal.aborted) socket.destroy();
  });
  return () => {
    taken.abort();
  };
}
