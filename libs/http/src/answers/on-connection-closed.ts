import type { Socket } from 'node:net';

const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `act` when the connection is gone, unless it is forgotten before by what is returned. A connection has one
 * listener for all of them: a caller may let many answers wait on one, and Node warns of each listener above ten.
 */
export function onConnectionClosed(socket: Socket, act: () => void): () => void {
  const acts = waiting.get(socket) ?? listenTo(socket);
  acts.add(act);
  return () => {
    acts.delete(act);
  };
}

function listenTo(socket: Socket): Set<() => void> {
  const acts = new Set<() => void>();
  waiting.set(socket, acts);
  socket.once('close', () => {
    for (const act of acts) act();
  });
  return acts;
}
