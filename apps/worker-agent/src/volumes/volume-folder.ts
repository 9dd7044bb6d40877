import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostVolume } from '@berth/contracts';
import type { VolumeStorage } from '@berth/domain';
import { ControlLoop, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { RuntimeError } from '../runtimes/index.js';
import type { HostVolumes } from './host-volumes.port.js';
import { makeMark, readMark } from './storage-mark.js';
import { makeVolume, removeVolume } from './volume-files.js';

export interface VolumeFolderOptions {
  /** Absolute, and the operator's: a folder of this host, or where a share is mounted. */
  readonly folder: string;
  /** The agent's own. */
  readonly home: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const LOOK_INTERVAL_MS = 30_000;
/** Between two tries to remove what could not be removed. */
const CLEAR_INTERVAL_MS = 60_000;
/** A share whose server is away keeps a call waiting for ever. */
const ANSWER_MAX_MS = 10_000;
/** So long what was seen last is believed. */
const SEEN_MAX_MS = 2 * LOOK_INTERVAL_MS + ANSWER_MAX_MS;
/** In the agent's home: the folder in which it has seen a mark. */
const SEEN_FILE = 'volume-folder';

/**
 * Network volumes as folders below one folder of the host, `ACCOUNT/VOLUME` each. Whether that folder is this host's own
 * or a share of several is nothing that anybody has to say: its mark tells hosts that see the same files from others.
 *
 * All calls go through one lane, so a share that hangs holds up one thread of the agent, and those who wait for a volume.
 */
export class VolumeFolder implements HostVolumes {
  readonly #options: VolumeFolderOptions;
  readonly #looking: ControlLoop;
  readonly #clearing: ControlLoop;
  #lane: Promise<unknown> = Promise.resolve();
  #seen: { readonly storageId: string; readonly atMs: number } | null = null;
  #isReported = false;
  #deleted: readonly HostVolume[] = [];
  readonly #cleared = new Set<string>();

  constructor(options: VolumeFolderOptions) {
    this.#options = options;
    this.#looking = new ControlLoop({
      name: 'volumes.look',
      intervalMs: LOOK_INTERVAL_MS,
      clock: options.clock,
      run: () => this.#check(),
      onError: (_, error) => {
        if (!this.#isReported)
          options.logger.error('network volumes cannot be reached', { folder: options.folder, error });
        this.#isReported = true;
      },
    });
    this.#clearing = new ControlLoop({
      name: 'volumes.clear',
      intervalMs: CLEAR_INTERVAL_MS,
      clock: options.clock,
      run: (signal) => this.#clear(signal),
      onError: (_, error) => {
        options.logger.error('files of deleted network volumes are left', { folder: options.folder, error });
      },
    });
  }

  /** Looks once, for so long at most as a look may take, and from then on now and then. */
  async start(): Promise<void> {
    await this.#withinLimit(() => this.#look()).catch(() => undefined);
    this.#looking.start();
    this.#clearing.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#looking.stop(), this.#clearing.stop()]);
  }

  get storage(): VolumeStorage | null {
    const isFresh = this.#seen !== null && this.#options.clock.monotonicMs() - this.#seen.atMs < SEEN_MAX_MS;
    return this.#seen !== null && isFresh ? { storageId: this.#seen.storageId } : null;
  }

  async folderOf(volume: HostVolume): Promise<string> {
    try {
      return await this.#withinLimit(async () => {
        // Asked again: below a mount point whose share has gone the folder would be made on the host's own disk.
        await this.#look();
        return makeVolume(this.#options.folder, volume);
      });
    } catch (error) {
      const detail = `Network volume ${volume.id} cannot be reached: ${(error as Error).message}`;
      throw new RuntimeError('volume-unavailable', detail, { cause: error });
    }
  }

  setDeleted(volumes: readonly HostVolume[]): void {
    const named = new Set(volumes.map(({ id }) => id));
    for (const id of this.#cleared) if (!named.has(id)) this.#cleared.delete(id);
    const isNews = volumes.some(({ id }) => !this.#deleted.some((known) => known.id === id));
    this.#deleted = volumes;
    if (isNews) this.#clearing.hurry();
  }

  get clearedIds(): readonly string[] {
    return [...this.#cleared];
  }

  async #check(): Promise<void> {
    await this.#withinLimit(() => this.#look());
    if (this.#isReported) this.#options.logger.info('network volumes can be reached again');
    this.#isReported = false;
  }

  /** Takes as long as it takes, beside the looks; what one volume has left keeps no other from going. */
  async #clear(signal: AbortSignal): Promise<void> {
    const errors: unknown[] = [];
    for (const volume of this.#deleted.filter(({ id }) => !this.#cleared.has(id))) {
      if (signal.aborted) return;
      await this.#clearOne(volume, signal).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw new AggregateError(errors, String(errors[0]));
  }

  async #clearOne(volume: HostVolume, signal: AbortSignal): Promise<void> {
    // An empty mount point would say that nothing is left.
    await this.#withinLimit(() => this.#look());
    await removeVolume(this.#options.folder, volume, signal);
    this.#options.logger.info('the files of a deleted network volume are gone', { volumeId: volume.id });
    this.#cleared.add(volume.id);
  }

  /** @throws Error where the folder is not there, or is not what it was */
  async #look(): Promise<void> {
    const { clock, folder, random } = this.#options;
    try {
      const storageId = (await readMark(folder)) ?? (await this.#firstMark(folder, random));
      this.#seen = { storageId, atMs: clock.monotonicMs() };
    } catch (error) {
      this.#seen = null;
      throw error;
    }
    await this.#rememberMarked(folder);
  }

  /** A folder that had a mark and has none is the empty place of a share that is not mounted. */
  async #firstMark(folder: string, random: Random): Promise<string> {
    const marked = await readFile(join(this.#options.home, SEEN_FILE), 'utf8').catch(() => '');
    if (marked === folder) {
      throw new Error(`${folder} had a mark, .berth-storage, which is gone: is what belongs there mounted?`);
    }
    return makeMark(folder, random);
  }

  async #rememberMarked(folder: string): Promise<void> {
    const path = join(this.#options.home, SEEN_FILE);
    if ((await readFile(path, 'utf8').catch(() => '')) !== folder) await writeFile(path, folder);
  }

  /** @throws Error when the answer takes too long; the call itself goes on, and nobody else's is begun before it ends */
  async #withinLimit<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const answered = new AbortController();
    const answer = this.#lane.then(call);
    this.#lane = answer.catch(() => undefined);
    const limit = this.#options.clock.sleep(ANSWER_MAX_MS, answered.signal).then(() => {
      throw new Error(`${this.#options.folder} does not answer`);
    });
    // Of the two the one that comes second is heard by nobody.
    limit.catch(() => undefined);
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, limit]);
    } finally {
      answered.abort();
    }
  }
}
