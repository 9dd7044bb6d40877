import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { onConnectionClosed } from '../answers/on-connection-closed.js';
import type { BodyHold } from './body-budget.js';

/** A body that its handler answers for from here on. */
export interface TakenBody {
  /** As it came; empty where there was none. */
  readonly text: string;
  /** Gives back the body's room: to be called as soon as nothing refers to the text any more. Once counts. */
  readonly done: () => void;
}

/** The rooms of bodies that nobody has taken. */
const rooms = new WeakMap<FastifyRequest, BodyHold>();

/** Keeps the room of a body that has come for as long as its request may refer to it, which is until its answer. */
export function keepRoom(request: FastifyRequest, answer: ServerResponse, hold: BodyHold): void {
  const { socket } = request.raw;
  const over = (): void => {
    answer.off('close', over);
    forget();
    if (rooms.delete(request)) hold.release();
  };
  rooms.set(request, hold);
  answer.once('close', over);
  // An answer that waits behind another one on its connection is not told that the connection is gone.
  const forget = onConnectionClosed(socket, over);
  if (socket.destroyed) over();
}

/**
 * Hands over the body and its room, once; the request lets go of both. For handlers that refer to a large body longer
 * than its caller is there, or that answer long after they have let go of it.
 */
export function takeBody(request: FastifyRequest): TakenBody {
  const { body } = request;
  const hold = rooms.get(request);
  request.body = undefined;
  rooms.delete(request);
  return { text: typeof body === 'string' ? body : '', done: () => hold?.release() };
}
