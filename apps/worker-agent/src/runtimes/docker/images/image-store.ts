import type Dockerode from 'dockerode';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ImageRequest, PrepareOptions } from '../../container-runtime.port.js';
import { RuntimeError, throwIfCancelled } from '../../runtime-error.js';
import { ask, askUnless } from '../ask-engine.js';
import { fromPullError, hasStatus, isTold } from '../engine-errors.js';
import { chooseEvictions, type StoredImage } from './choose-evictions.js';
import {
  LOCAL_PREFIX,
  byDigest,
  digestIn,
  isImageName,
  repositoryOf,
  shortName,
  withTag,
} from '../../images/image-name.js';
import { imageAccess, recordKey, withAccepted, type ImageUse } from './image-record.js';
import type { ImageRecords } from './image-records.js';
import { loginFor, pullImage } from './pull-image.js';
import { SharedWork, type SharedCourse } from '../../images/shared-work.js';

/** Characters of what is no name that its reason shows. */
const NAME_SHOWN = 100;

export interface ImageStoreOptions {
  /** With a time limit for each call. */
  readonly engine: Dockerode;
  /** For what streams. */
  readonly streams: Dockerode;
  readonly records: ImageRecords;
  /** What images that this agent has pulled may take together. */
  readonly budgetBytes: () => Promise<number>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Another name for an image here, by which it can be started. */
export interface FoundImage {
  /** By digest where a registry gave it, else as it was asked for. */
  readonly name: string;
  /** Null for one that no registry gave under this name. */
  readonly digest: string | null;
  /** Under whatever names. */
  readonly digests: readonly string[];
}

/**
 * The images of this host: each is pulled once however many ask, started by an account only when its own credentials were
 * good for it (ADR 0058), and removed when room is short and nothing is made of it.
 */
export class ImageStore {
  readonly #options: ImageStoreOptions;
  readonly #pulls = new SharedWork();
  #isEvicting = false;

  constructor(options: ImageStoreOptions) {
    this.#options = options;
  }

  /**
   * Makes the image startable for who asks.
   *
   * @throws RuntimeError `image-missing`, `image-denied`, `image-unreachable`, `disk-full`, `runtime-unavailable`, `cancelled`
   */
  async ensure(request: ImageRequest, options: PrepareOptions): Promise<void> {
    throwIfCancelled(options.signal);
    const found = await this.find(request);
    // Another name for what was pulled for somebody, such as one with the default registry in it, opens nothing.
    const isPulled = found?.digest === null && found.digests.some((digest) => this.#options.records.knows(digest));
    if (found === null || (isPulled && !request.image.startsWith(LOCAL_PREFIX))) await this.#bring(request, options);
    else if (found.digest === null || !(await this.#letIn(request, found.digest, options))) return;
    const { digest } = (await this.find(request)) ?? { digest: null };
    if (digest === null) return;
    await this.#note(request, digest);
    this.#evict();
  }

  /** Null where it is not here. @throws RuntimeError `image-missing` of what is no name, and `runtime-unavailable` */
  async find(request: Pick<ImageRequest, 'image' | 'digest'>): Promise<FoundImage | null> {
    if (!isImageName(request.image)) {
      throw new RuntimeError('image-missing', `"${request.image.slice(0, NAME_SHOWN)}" is no name of an image.`);
    }
    const wanted = nameOf(request);
    const what = `Image ${request.image} cannot be inspected`;
    const image = await askUnless([404], what, () => this.#options.engine.getImage(wanted).inspect());
    if (image === undefined) return null;
    const repository = shortName(repositoryOf(request.image));
    const digests = (image.RepoDigests ?? []).flatMap((each) => digestIn(each) ?? []);
    const own = (image.RepoDigests ?? []).find((each) => shortName(repositoryOf(each)) === repository);
    const digest = request.digest ?? (own === undefined ? null : digestIn(own));
    return digest === null || !digests.includes(digest)
      ? { name: request.image, digest: null, digests }
      : { name: byDigest(request.image, digest), digest, digests };
  }

  /**
   * Asks the registry where what is remembered does not say that this account may have it. False: this agent did not pull
   * it, so it is the operator's, and nothing is remembered of it.
   */
  async #letIn(request: ImageRequest, digest: string, options: PrepareOptions): Promise<boolean> {
    const { clock, records } = this.#options;
    const record = records.find({ digest, repository: repositoryOf(request.image) });
    const isOthers = record === null && records.knows(digest);
    const access = isOthers ? 'ask' : imageAccess(record, useOf(request), clock.nowMs());
    if (access !== 'ask') return access === 'allowed';
    options.onProgress?.(`asking for ${request.image}, which is here, with the credentials of this endpoint`);
    await this.#askRegistry({ ...request, image: byDigest(request.image, digest) }, options);
    return true;
  }

  /** An engine that cannot ask pulls: what is here already is not loaded again. */
  async #askRegistry(request: ImageRequest, options: PrepareOptions): Promise<void> {
    try {
      await this.#options.engine.getImage(request.image).distribution(loginFor(request));
    } catch (error) {
      throwIfCancelled(options.signal);
      if (!isUnknownPath(error)) throw fromPullError(error, request.image);
      await pullImage(this.#options.streams, request, options);
    }
  }

  /**
   * By digest the registry is asked first: an engine that still has a manifest, and the layers under another name, would
   * put the image together without asking anybody.
   */
  async #bring(request: ImageRequest, options: PrepareOptions): Promise<void> {
    const { image } = request;
    if (image.startsWith(LOCAL_PREFIX)) {
      throw new RuntimeError(
        'image-missing',
        `Image ${image} is not on this host, and names under ${LOCAL_PREFIX} are never pulled.`,
      );
    }
    const wanted = { ...request, image: nameOf(request) };
    if (digestIn(wanted.image) !== null) await this.#askRegistry(wanted, options);
    await this.#pull(wanted, options);
  }

  async #pull(request: ImageRequest, options: PrepareOptions): Promise<void> {
    const { image } = request;
    // Whose credentials they are is part of it: what one account may have says nothing of another.
    const key = JSON.stringify([image, request.credentials]);
    const { onHeldUp, onPercent, onProgress, signal } = options;
    const begin = (shared: SharedCourse): Promise<void> =>
      pullImage(this.#options.streams, request, { ...shared, ...(onProgress === undefined ? {} : { onProgress }) });
    try {
      await this.#pulls.run(key, begin, { signal, onHeldUp, onPercent });
    } catch (error) {
      throwIfCancelled(signal);
      throw error;
    }
  }

  #note(request: ImageRequest, digest: string): Promise<void> {
    const { clock, records } = this.#options;
    const image = { digest, repository: repositoryOf(request.image) };
    return records.put(withAccepted(records.find(image), { ...image, ...useOf(request) }, clock.nowMs()));
  }

  /** One at a time, and beside whatever is prepared: room is wanted by the next image, not by this one. */
  #evict(): void {
    if (this.#isEvicting) return;
    this.#isEvicting = true;
    void this.#removeWhatMayGo()
      .catch((error: unknown) => {
        this.#options.logger.warn('images could not be removed to make room', { error });
      })
      .finally(() => {
        this.#isEvicting = false;
      });
  }

  async #removeWhatMayGo(): Promise<void> {
    const { clock, engine, logger, records } = this.#options;
    const images = await this.#stored();
    const budgetBytes = await this.#options.budgetBytes();
    for (const image of chooseEvictions({ images, records: records.all, budgetBytes }, clock.nowMs())) {
      // Without force: the engine itself refuses what a container was made of since it was asked.
      for (const name of image.names) {
        await askUnless([404, 409], `Image ${name} cannot be removed`, () => engine.getImage(name).remove());
      }
      logger.info('an image was removed to make room', { image: image.names[0], bytes: image.bytes });
    }
    const here = new Set((await this.#stored()).flatMap(({ names }) => names.map(shortName)));
    await records.forget(records.all.map(recordKey).filter((key) => !here.has(key)));
  }

  async #stored(): Promise<readonly StoredImage[]> {
    const { engine } = this.#options;
    const images = await ask('The images cannot be listed', () => engine.listImages());
    const containers = await ask('The containers cannot be listed', () => engine.listContainers({ all: true }));
    const used = new Set(containers.map(({ ImageID }) => ImageID));
    return images.map(({ Id: id, RepoDigests, RepoTags, Size: bytes }) => {
      const names = [...(RepoTags ?? []), ...(RepoDigests ?? [])].filter((name) => !name.startsWith('<none>'));
      return { id, bytes, names, isUsed: used.has(id) };
    });
  }
}

const nameOf = ({ digest, image }: Pick<ImageRequest, 'digest' | 'image'>): string =>
  digest === undefined || image.startsWith(LOCAL_PREFIX) ? withTag(image) : byDigest(image, digest);

const useOf = ({ accountId, credentials }: ImageRequest): ImageUse => ({
  accountId: accountId ?? null,
  hasCredentials: credentials !== null,
});

/** Podman has no such path, and says so in no JSON. */
const isUnknownPath = (error: unknown): boolean => hasStatus(error, 404, 405) && !isTold(error);
