import type { Clock } from '@berth/lifecycle';
import type { MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { findCaller } from '../auth/access.decorator.js';
import { BodyBudget } from '../bodies/body-budget.js';
import { networkOf } from '../callers/caller-address.js';
import { answerMetrics } from '../metrics.js';
import { onConnectionClosed } from './on-connection-closed.js';

/** Answers below it wait in the sockets' own buffers. */
export const LARGE_ANSWER_BYTES = 64 * 1024;

/** A caller that has taken nothing of its answer for so long is cut off: it holds what others could be given. */
export const STALLED_AFTER_MS = 60_000;

/** The bytes of an answer that a caller takes in a second, on the whole; one that takes less is cut off too. */
const TAKEN_PER_SECOND_BYTES = 16 * 1024;
const SECOND_MS = 1_000;

/** Large answers to callers without a key, all together: a few hundred documents at once. */
const STRANGERS_ANSWERS_MAX_BYTES = 64 * 1024 ** 2;

export interface AnswerRooms {
  /** Of callers with a key; each account has its share. */
  readonly accounts: BodyBudget;
  /** Of callers without one, by their network, so that they never take the room of others. */
  readonly strangers: BodyBudget;
}

export interface AnswerLimits {
  readonly clock: Clock;
  /** Other than the default only where a test waits for it. */
  readonly stalledAfterMs?: number;
}

/** Bounds answers, all of them together and each caller's; requests are bounded where they are read. */
export function boundAnswers(
  fastify: FastifyInstance,
  { clock, metrics }: { readonly clock: Clock; readonly metrics: MetricRegistry },
): void {
  const [accounts, strangers] = [new BodyBudget(), new BodyBudget(STRANGERS_ANSWERS_MAX_BYTES)];
  answerMetrics(metrics, () => accounts.takenBytes + strangers.takenBytes);
  limitAnswers(fastify, { accounts, strangers }, { clock });
}

/**
 * From the moment it is handed over until the caller has it, or its connection is gone. Answers that are written piece by
 * piece do not come through here.
 */
export function limitAnswers(
  fastify: FastifyInstance,
  rooms: AnswerRooms,
  { clock, stalledAfterMs = STALLED_AFTER_MS }: AnswerLimits,
): void {
  fastify.addHook('onSend', (request, reply, ...[payload, done]) => {
    const { socket } = request.raw;
    // A destroyed socket does not tell of its end again.
    if (socket.destroyed) {
      done(null, payload);
      return;
    }
    const bytes = sizeOf(payload);
    const isLarge = bytes >= LARGE_ANSWER_BYTES;
    const release = isLarge ? takeRoom(rooms, request, bytes) : nothing;
    let taken = nothing;
    const settle = (): void => {
      forget();
      taken();
      release();
    };
    // An answer that waits behind another one on its connection is not told that the connection is gone.
    const forget = onConnectionClosed(socket, settle);
    reply.raw.once('close', settle);
    onItsTurn(reply.raw, () => {
      if (isLarge) socket.setTimeout(stalledAfterMs);
      taken = cutOffLate(socket, takenWithinMs(bytes, stalledAfterMs), clock);
    });
    done(null, payload);
  });
}

const nothing = (): void => undefined;

const takeRoom = ({ accounts, strangers }: AnswerRooms, request: FastifyRequest, bytes: number): (() => void) => {
  const caller = findCaller(request);
  return caller === undefined ? strangers.take(bytes, networkOf(request)) : accounts.take(bytes, caller.accountId);
};

/** Files are read as they are taken: there is never much of them here. */
const sizeOf = (payload: unknown): number => {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return Buffer.isBuffer(payload) ? payload.byteLength : 0;
};

/**
 * A caller cannot take an answer while one before it on the same connection is not there yet, for which a job may be
 * waited for.
 */
function onItsTurn(answer: ServerResponse, act: () => void): void {
  if (answer.socket === null) answer.once('socket', act);
  else act();
}

/** How long a caller may take for a text of this size, however steadily it takes it. */
export const takenWithinMs = (bytes: number, stalledAfterMs: number): number =>
  stalledAfterMs + (bytes / TAKEN_PER_SECOND_BYTES) * SECOND_MS;

/** Returns what to call when the caller has everything. */
export const cutOffLate = (socket: Socket, withinMs: number, clock: Clock): (() => void) =>
  clock.after(withinMs, () => socket.destroy());
