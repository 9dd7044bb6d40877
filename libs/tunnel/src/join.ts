import type { Duplex } from 'node:stream';
import { HeldWrites } from '@berth/lifecycle';
import { TunnelError } from './tunnel-error.js';

/**
 * Each direction ends for itself; one that breaks takes the other along, so that an answer that was cut is never taken for
 * one that ended. By hand: two pipelines of Node were the largest part of what a profile of the agent showed of a request.
 */
export function join(stream: Duplex, worker: Duplex): void {
  const fail = (error: Error): void => {
    stream.destroy(error);
    worker.destroy();
  };
  stream.on('error', fail);
  stream.once('close', () => {
    if (!hasEnded(stream)) worker.destroy();
  });
  worker.on('error', fail);
  worker.once('close', () => {
    // Most streams are cut by the router once it has the answer, and an error that nobody hears costs its stack.
    if (!stream.destroyed && !hasEnded(worker))
      stream.destroy(new TunnelError('The connection to the worker was cut.'));
  });
  const writes = new HeldWrites(() => worker);
  stream.on('data', () => writes.hold());
  stream.pipe(worker);
  worker.pipe(stream);
}

/** Whether both of its halves have come to their end in order. */
const hasEnded = ({ readableEnded, writableFinished }: Duplex): boolean => readableEnded && writableFinished;
