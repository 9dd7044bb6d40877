import { once } from 'node:events';
import { systemClock } from '@berth/lifecycle';
import { WebSocket } from 'ws';
import type { LoadResult } from '../load.js';
import type { Way } from './ways.js';

export interface SocketLoad {
  readonly sockets: number;
  /** Of each socket, one after the other: the next one is sent when the last one has come back. */
  readonly messages: number;
  readonly message: Buffer;
}

/** @throws Error when a message did not come back as it was: the figures would lie */
export async function echoThrough({ headers, origins }: Way, load: SocketLoad): Promise<LoadResult> {
  const open = Array.from({ length: load.sockets }, (_, at) => {
    const url = `${(origins[at % origins.length] ?? '').replace('http', 'ws')}/socket`;
    return new WebSocket(url, { headers, perMessageDeflate: false });
  });
  await Promise.all(open.map((socket) => once(socket, 'open')));
  const beganAtMs = systemClock.monotonicMs();
  const latenciesMs = (await Promise.all(open.map((socket) => echo(socket, load)))).flat();
  const elapsedSeconds = (systemClock.monotonicMs() - beganAtMs) / 1_000;
  const closed = open.map((socket) => once(socket, 'close'));
  for (const socket of open) socket.close();
  await Promise.all(closed);
  return { perSecond: latenciesMs.length / elapsedSeconds, latenciesMs: latenciesMs.sort((a, b) => a - b) };
}

/** How long each message took, in ms. */
const echo = (socket: WebSocket, { message, messages }: SocketLoad): Promise<number[]> =>
  new Promise((resolve, reject) => {
    const latenciesMs: number[] = [];
    let sentAtMs = 0;
    const next = (): void => {
      sentAtMs = systemClock.monotonicMs();
      socket.send(message);
    };
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error('a WebSocket was closed before it had heard all'));
    });
    socket.on('message', (heard: Buffer) => {
      latenciesMs.push(systemClock.monotonicMs() - sentAtMs);
      if (!heard.equals(message)) reject(new Error('a message came back as another one'));
      else if (latenciesMs.length < messages) next();
      else resolve(latenciesMs);
    });
    next();
  });
