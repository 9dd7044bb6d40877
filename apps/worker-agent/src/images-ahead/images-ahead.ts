import { IMAGES_AHEAD_MAX, type WantedImage } from '@berth/contracts';
import { cleanText, hasGivenUp, planAhead, type AheadImage, type ImageAhead, type Inventory } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { RuntimeError, type ContainerRuntime } from '../runtimes/index.js';
import type { HostWorkers } from '../worker-reconciler/index.js';

export interface ImagesAheadOptions {
  readonly runtime: Pick<ContainerRuntime, 'prepare'>;
  readonly workers: Pick<HostWorkers, 'observed' | 'subscribe'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The images of this host that no worker asks for yet. */
export interface HostImagesAhead {
  setWanted(wanted: readonly WantedImage[]): void;
  /** Calls `listener` when something of what is told has changed. Returns the function that ends it. */
  subscribe(listener: () => void): () => void;
  /** The inventory with what is told of them. */
  toldIn(inventory: Inventory): Inventory;
}

/** Of a host whose runtime has no images to pull: it is not asked for any. */
export const NO_IMAGES_AHEAD: HostImagesAhead = {
  setWanted: () => undefined,
  subscribe: () => () => undefined,
  toldIn: (inventory) => inventory,
};

interface Entry {
  readonly wanted: WantedImage;
  failures: number;
  triedAtMs: number | null;
  isReady: boolean;
  reason: string;
}

const LOOK_INTERVAL_MS = 1_000;
const REASON_CHARACTERS_MAX = 500;

/**
 * Prepares images for releases that are to come (ADR 0064): one at a time, whenever no worker of this host waits for its
 * own. A worker that wants the same image meanwhile joins the pull; any other ends it, and it is begun anew later.
 */
export class ImagesAhead implements HostImagesAhead {
  readonly #options: ImagesAheadOptions;
  readonly #listeners = new Set<() => void>();
  readonly #loop: ControlLoop;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #running: { readonly key: string; readonly cancel: AbortController; readonly ended: Promise<void> } | null = null;
  #end: () => void = () => undefined;

  constructor(options: ImagesAheadOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'images.ahead',
      intervalMs: LOOK_INTERVAL_MS,
      clock: options.clock,
      run: () => this.#look(),
      onError: (_, error) => {
        options.logger.error('images cannot be prepared ahead', { error });
      },
    });
  }

  start(): void {
    this.#end = this.#options.workers.subscribe(() => {
      this.#loop.hurry();
    });
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#end();
    await this.#loop.stop();
    this.#running?.cancel.abort();
    await this.#running?.ended;
  }

  /** What is named again keeps what is known of it; what is not named is left where it is, and not tried any more. */
  setWanted(wanted: readonly WantedImage[]): void {
    const entries = wanted.slice(0, IMAGES_AHEAD_MAX).map((each): [string, Entry] => {
      const known = this.#entries.get(keyOf(each));
      const untried = { failures: 0, triedAtMs: null, isReady: false, reason: '' };
      return [keyOf(each), { ...(known ?? untried), wanted: each }];
    });
    const isNews = entries.length !== this.#entries.size || entries.some(([key]) => !this.#entries.has(key));
    this.#entries = new Map(entries);
    if (!isNews) return;
    this.#loop.hurry();
    this.#changed();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Placement goes by the names of images, also of those that came by their digest. */
  toldIn(inventory: Inventory): Inventory {
    const entries = [...this.#entries.values()];
    const ready = entries.filter(({ isReady }) => isReady).map(({ wanted }) => wanted.image);
    return {
      ...inventory,
      images: [...new Set([...inventory.images, ...ready])],
      imagesAhead: entries.map((entry): ImageAhead => ({
        ...{ endpointId: entry.wanted.endpointId, release: entry.wanted.release },
        ...{ state: stateOf(entry), reason: entry.reason },
      })),
    };
  }

  async #look(): Promise<void> {
    const { clock, workers } = this.#options;
    const images = [...this.#entries].map(([key, entry]): AheadImage => ({ key, ...entry }));
    const isWorkerPulling = workers.observed().some(({ imagePercent }) => imagePercent !== undefined);
    const view = { images, runningKey: this.#running?.key ?? null, isWorkerPulling };
    const step = planAhead(view, clock.monotonicMs());
    switch (step.kind) {
      case 'begin':
        this.#begin(step.key);
        return;
      case 'give-up':
        this.#running?.cancel.abort();
        await this.#running?.ended;
        return;
      case 'wait':
        return;
      default:
        step satisfies never;
    }
  }

  #begin(key: string): void {
    const cancel = new AbortController();
    this.#running = { key, cancel, ended: this.#prepare(key, cancel.signal) };
  }

  async #prepare(key: string, signal: AbortSignal): Promise<void> {
    const { clock, logger, runtime } = this.#options;
    const wanted = this.#entries.get(key)?.wanted;
    if (wanted === undefined) return;
    const { accountId, endpointId, image, imageDigest, registryCredentials, release } = wanted;
    const failure = await runtime
      .prepare(
        {
          ...{ image, accountId, credentials: registryCredentials ?? null },
          ...(imageDigest === undefined ? {} : { digest: imageDigest }),
        },
        { signal },
      )
      .then(() => null, describe);
    this.#running = null;
    this.#loop.hurry();
    // What was given up was not tried.
    const entry = this.#entries.get(key);
    if (signal.aborted || entry === undefined) return;
    const before = stateOf(entry);
    entry.triedAtMs = clock.monotonicMs();
    entry.failures = failure === null ? 0 : entry.failures + 1;
    entry.isReady = failure === null;
    entry.reason = failure ?? '';
    if (stateOf(entry) === before) return;
    logger.info(`an image for a release to come: ${stateOf(entry)}`, {
      endpointId,
      release,
      image,
      reason: entry.reason,
    });
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

const keyOf = ({ endpointId, image, imageDigest = '', release }: WantedImage): string =>
  JSON.stringify([endpointId, release, image, imageDigest]);

function stateOf({ failures, isReady }: Entry): ImageAhead['state'] {
  if (isReady) return 'ready';
  return hasGivenUp({ failures }) ? 'failed' : 'pending';
}

const describe = (error: unknown): string =>
  cleanText(error instanceof RuntimeError ? `${error.reason}: ${error.message}` : String(error), REASON_CHARACTERS_MAX);
