import type Dockerode from 'dockerode';
import type { ImageRequest, PrepareOptions } from '../container-runtime.port.js';
import { RuntimeError, throwIfCancelled } from '../runtime-error.js';
import { fromPullError, hasStatus } from './engine-errors.js';
import { PullProgress, type PullEvent } from './pull-progress.js';

/** Images under this name are built on the host; no registry has them, and asking one would leak their names. */
const LOCAL_PREFIX = 'local/';

/** @throws RuntimeError `image-missing`, `image-denied`, `image-unreachable`, `disk-full`, `runtime-unavailable`, `cancelled` */
export async function ensureImage(engine: Dockerode, request: ImageRequest, options: PrepareOptions): Promise<void> {
  throwIfCancelled(options.signal);
  const { image } = request;
  if (await isPresent(engine, image)) return;
  if (image.startsWith(LOCAL_PREFIX)) {
    throw new RuntimeError(
      'image-missing',
      `Image ${image} is not on this host, and names under ${LOCAL_PREFIX} are never pulled.`,
    );
  }
  options.onProgress?.(`pulling ${image}`);
  try {
    await pull(engine, request, options);
  } catch (error) {
    // However an engine's client words that it was given up.
    throwIfCancelled(options.signal);
    throw fromPullError(error, image);
  }
}

async function isPresent(engine: Dockerode, image: string): Promise<boolean> {
  try {
    await engine.getImage(image).inspect();
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    throw fromPullError(error, image);
  }
}

async function pull(engine: Dockerode, { image, credentials }: ImageRequest, options: PrepareOptions): Promise<void> {
  const answer = await engine.pull(withTag(image), {
    ...(credentials === null ? {} : { authconfig: { ...credentials, serveraddress: registryOf(image) } }),
    ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
  });
  const hear = hearerFor(options);
  for await (const event of eventsOf(answer)) hear(event);
}

/** The returned function throws once the engine tells that the pull has failed. */
function hearerFor({ onPercent, onProgress }: PrepareOptions): (event: PullEvent) => void {
  const progress = new PullProgress();
  const told = new Set<string>();
  return (event) => {
    throwIfFailed(event);
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

/** Without a tag the engine would pull every tag of the name. */
const withTag = (image: string): string => (/[:@][^/]*$/.test(image) ? image : `${image}:latest`);

/** The registry that an image's name begins with; a first part without dot, colon or `localhost` is a folder of the default one. */
export function registryOf(image: string): string {
  const [first = ''] = image.split('/');
  const isRegistry = image.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry ? first : 'https://index.docker.io/v1/';
}
