import type { Readable, Writable } from 'node:stream';

export interface FlowListeners {
  /** False: it and all that follows is not written. */
  readonly onChunk: (chunk: Buffer) => boolean;
  readonly onEnd: () => void;
}

/** Writes what comes, no faster than it is taken. What becomes of errors is for whoever has the two ends. */
export function flow(from: Readable, to: Writable, { onChunk, onEnd }: FlowListeners): void {
  let isOver = false;
  const resume = (): void => {
    from.resume();
  };
  from.on('data', (chunk: Buffer) => {
    if (isOver || to.destroyed) return;
    if (!onChunk(chunk)) {
      isOver = true;
      return;
    }
    if (!to.write(chunk)) {
      from.pause();
      to.once('drain', resume);
    }
  });
  from.once('end', () => {
    to.off('drain', resume);
    if (!isOver && !to.destroyed) onEnd();
  });
  // A writer that is gone drains no more, and what still comes is for nobody.
  to.once('close', resume);
}
