import type Dockerode from 'dockerode';
import { RuntimeError, throwIfCancelled, type ImageRequest, type PrepareOptions } from '../container-runtime.port.js';
import { fromPullError, hasStatus } from './engine-errors.js';
import { PullProgress, type PullEvent } from './pull-progress.js';

/** Images under this name are built on the host; no registry has them, and asking one would leak their names. */
const LOCAL_PREFIX = 'local/';

/** @throws RuntimeError `image-missing`, `image-unreachable`, `disk-full`, `runtime-unavailable`, `cancelled` */
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
  const stream = await engine.pull(withTag(image), {
    ...(credentials === null ? {} : { authconfig: { ...credentials, serveraddress: registryOf(image) } }),
    ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
  });
  const progress = new PullProgress();
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(
      stream,
      (error) => {
        if (error === null) resolve();
        else reject(error);
      },
      (event: PullEvent) => {
        const { id, status } = event;
        const percent = progress.take(event);
        if (percent !== null) options.onPercent?.(percent);
        // Byte counts come many times a second; what is told is each layer's change of state.
        if (id !== undefined && status !== undefined && !/^(?:Downloading|Extracting)/.test(status)) {
          options.onProgress?.(`${id}: ${status}`);
        }
      },
    );
  });
}

/** Without a tag the engine would pull every tag of the name. */
const withTag = (image: string): string => (/[:@][^/]*$/.test(image) ? image : `${image}:latest`);

/** The registry that an image's name begins with; a first part without dot, colon or `localhost` is a folder of the default one. */
export function registryOf(image: string): string {
  const [first = ''] = image.split('/');
  const isRegistry = image.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry ? first : 'https://index.docker.io/v1/';
}
