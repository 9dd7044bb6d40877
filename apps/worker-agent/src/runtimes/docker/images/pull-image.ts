import type Dockerode from 'dockerode';
import type { ImageRequest, PrepareOptions } from '../../container-runtime.port.js';
import { throwIfCancelled } from '../../runtime-error.js';
import { fromPullError } from '../engine-errors.js';
import { registryOf, withTag } from '../../images/image-name.js';
import { BrokenDownloads } from './broken-downloads.js';
import { PullProgress, type PullEvent } from './pull-progress.js';

const BROKEN_OFF = 'a download of it broke off, and the engine tries it again';

export type PullRequest = Pick<ImageRequest, 'image' | 'credentials'>;

/** @throws RuntimeError `image-missing`, `image-denied`, `image-unreachable`, `disk-full`, `runtime-unavailable`, `cancelled` */
export async function pullImage(engine: Dockerode, request: PullRequest, options: PrepareOptions): Promise<void> {
  const { image } = request;
  options.onProgress?.(`pulling ${image}`);
  try {
    await pull(engine, request, options);
  } catch (error) {
    // However an engine's client words that it was given up.
    throwIfCancelled(options.signal);
    throw fromPullError(error, image);
  }
}

/** What a registry is told of who asks; nothing without credentials. */
export const loginFor = ({ credentials, image }: PullRequest): { readonly authconfig?: object } =>
  credentials === null ? {} : { authconfig: { ...credentials, serveraddress: registryOf(image) } };

async function pull(engine: Dockerode, request: PullRequest, options: PrepareOptions): Promise<void> {
  const answer = await engine.pull(withTag(request.image), {
    ...loginFor(request),
    ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
  });
  const hear = hearerFor(options);
  for await (const event of eventsOf(answer)) hear(event);
}

/** The returned function throws once the engine tells that the pull has failed. */
function hearerFor({ onHeldUp, onPercent, onProgress }: PrepareOptions): (event: PullEvent) => void {
  const progress = new PullProgress();
  const broken = new BrokenDownloads((isAny) => onHeldUp?.(isAny ? BROKEN_OFF : null));
  const told = new Set<string>();
  return (event) => {
    throwIfFailed(event);
    broken.take(event);
    const percent = progress.take(event);
    if (percent !== null) onPercent?.(percent);
    // Byte counts and seconds to the next try come again and again; what is told is each layer's change of state.
    const { id, status = '' } = event;
    const state = `${id ?? ''}: ${status.replace(/ \d+ seconds?$/, '')}`;
    if (id !== undefined && !told.has(state)) onProgress?.(`${id}: ${status}`);
    told.add(state);
  };
}

function throwIfFailed({ error, errorDetail }: PullEvent): void {
  const failure = errorDetail?.message ?? error;
  if (failure !== undefined) throw new Error(failure);
}

/** An engine answers 200 as soon as it has begun: how the pull ended is told within the answer, one JSON text a line. */
async function* eventsOf(answer: NodeJS.ReadableStream): AsyncGenerator<PullEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of answer) {
    const lines = (rest + decoder.decode(bytes as Buffer, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as PullEvent;
  }
}
