import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Clock } from '@berth/lifecycle';
import type { Container } from 'dockerode';
import type { OwnedContainer, PrintedBatch } from '../container-runtime.port.js';
import { askUnless } from './ask-engine.js';
import { fromEngineError } from './engine-errors.js';
import { EngineLog } from './engine-log.js';

export interface FollowContainerOptions {
  readonly container: Container;
  readonly look: () => Promise<OwnedContainer | null>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** An engine that restarts ends its answers; it is asked again after this. */
const ASK_AGAIN_MS = 250;

/** Reads a container's log from a position on, until it has ended and the engine has told all of it. */
export async function* followContainer(
  from: string | null,
  { clock, container, look, signal }: FollowContainerOptions,
): AsyncGenerator<PrintedBatch> {
  let position = from;
  let known: string | null = null;
  while (!signal.aborted) {
    // Before the question: who has ended before it prints nothing after it.
    const found = await look();
    if (found === null || found.state.kind === 'created') return;
    if (known !== null && known !== found.containerId) return;
    known = found.containerId;
    for await (const batch of readLog(position, { container, containerId: known, signal })) {
      ({ position } = batch);
      yield batch;
    }
    if (found.state.kind === 'ended') return;
    await clock.sleep(ASK_AGAIN_MS, signal);
  }
}

interface ReadLogOptions {
  readonly container: Container;
  readonly containerId: string;
  readonly signal: AbortSignal;
}

/** One answer of the engine; none where the container was removed meanwhile. */
async function* readLog(
  position: string | null,
  { container, containerId, signal }: ReadLogOptions,
): AsyncGenerator<PrintedBatch> {
  const log = new EngineLog(position, containerId);
  const stream = await openLog(container, log.since);
  if (stream === undefined) return;
  const leave = (): void => {
    stream.destroy();
  };
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    for await (const chunk of stream) {
      const batch = log.take(chunk as Buffer);
      if (batch !== null) yield batch;
    }
    const rest = log.finish();
    if (rest !== null) yield rest;
  } catch (error) {
    // An answer that breaks off is asked for again from where it was read to; a reader that leaves has no error.
    if (!signal.aborted && !isBrokenOff(error)) throw fromEngineError(error, UNREADABLE);
  } finally {
    signal.removeEventListener('abort', leave);
    stream.destroy();
    if (!stream.closed) await once(stream, 'close');
  }
}

const UNREADABLE = 'The log of a container cannot be read';

async function openLog(container: Container, since: string | null): Promise<Readable | undefined> {
  const question = { follow: true, stdout: true, stderr: true, timestamps: true } as const;
  // The types of the client know no fraction of a second.
  const from = (since === null ? {} : { since }) as { since?: number };
  // 404 and 409: it was removed meanwhile.
  const stream = await askUnless([404, 409], UNREADABLE, () => container.logs({ ...question, ...from }));
  return stream as Readable | undefined;
}

const isBrokenOff = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes((error as NodeJS.ErrnoException).code ?? '') ||
  (error as Error).message === 'aborted';
