import { Silence, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { isAnswered, type ClusterApi } from '@berth/cluster-api';
import type { ObjectList, PodObject, WatchEvent } from '../api/kube-objects.js';
import { LineReader } from '../api/line-reader.js';
import type { KubernetesMetrics } from '../metrics.js';
import type { KnownPods } from './known-pods.js';

export interface PodWatchOptions {
  readonly api: Pick<ClusterApi, 'ask' | 'stream'>;
  /** Of the namespace's Pods. */
  readonly path: string;
  readonly labelSelector: string;
  readonly pods: KnownPods;
  readonly metrics: KubernetesMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** After so long all is listed anew, whatever the watch has told: an event that was lost is made up for. */
const RESYNC_S = 240;
const RESYNC_SPREAD_S = 60;
/** The API says each minute that a watch stands (a bookmark): one that is silent for longer has lost its other end. */
const SILENCE_MAX_MS = 90_000;
const LIST_MAX_MS = 10_000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 15_000;
/** From then on a watch counts as one that has stood. What ends sooner is asked for more and more seldom, lists and all. */
const STOOD_AFTER_MS = 10_000;
const GONE = 410;
/** An object of the API is 1.5 MB at most. */
const EVENT_CHARACTERS_MAX = 4 * 2 ** 20;

/** Thrown when the API says that it has forgotten where the watch stands. */
class TooOld extends Error {}

/** Thrown when a watch has said nothing for too long. */
class FellSilent extends Error {}

/** Keeps what is known of a host's Pods as the API has it: a list, and a watch from there on, again and again. */
export class PodWatch {
  readonly #options: PodWatchOptions;

  constructor(options: PodWatchOptions) {
    this.#options = options;
  }

  /** Takes in all Pods, and returns where a watch goes on. @throws ClusterError, and what the connection throws */
  async list(): Promise<string> {
    const { api, labelSelector, path, pods } = this.#options;
    const askedAt = pods.moment;
    const list = await api.ask<ObjectList<PodObject>>(path, { query: { labelSelector }, timeoutMs: LIST_MAX_MS });
    const version = list.metadata?.resourceVersion ?? '0';
    pods.replaceAll(list.items ?? [], { askedAt, version });
    return version;
  }

  /** Goes on until the signal ends it. An API that is away leaves what is known as it was. */
  async run(from: string, signal: AbortSignal): Promise<void> {
    const { clock, logger, metrics } = this.#options;
    let version: string | null = from;
    let failures = 0;
    while (!signal.aborted) {
      let beganAtMs = Number.POSITIVE_INFINITY;
      const hasStood = (): boolean => clock.monotonicMs() - beganAtMs >= STOOD_AFTER_MS;
      try {
        version ??= await this.list();
        metrics.isWatching.set(1);
        beganAtMs = clock.monotonicMs();
        await this.#follow(version, signal);
        if (!hasStood()) throw new Error('the API ended it at once');
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures = hasStood() ? 1 : failures + 1;
        const reason = breakReason(error);
        metrics.watchBreaks.inc({ reason });
        if (reason !== 'too-old') {
          metrics.isWatching.set(0);
          logger.warn('the watch on Pods broke off', { reason, failures, error });
        }
        await clock.sleep(this.#backoffMs(failures), signal);
      }
      version = null;
    }
  }

  async #follow(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const silent = new AbortController();
    const silence = new Silence(this.#options.clock, SILENCE_MAX_MS, () => {
      silent.abort();
    });
    try {
      for await (const event of this.#events(resourceVersion, AbortSignal.any([signal, silent.signal]))) {
        silence.heard();
        this.#take(event);
      }
    } catch (error) {
      throw silent.signal.aborted ? new FellSilent('nothing was heard of it', { cause: error }) : error;
    } finally {
      silence.end();
    }
  }

  async *#events(resourceVersion: string, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const { api, labelSelector, path, random } = this.#options;
    const timeoutSeconds = RESYNC_S + Math.floor(RESYNC_SPREAD_S * random.fraction());
    const reader = new LineReader(EVENT_CHARACTERS_MAX);
    const query = { watch: true, allowWatchBookmarks: true, labelSelector, resourceVersion, timeoutSeconds };
    for await (const bytes of api.stream(path, query, signal)) {
      for (const line of reader.take(bytes)) yield JSON.parse(line) as WatchEvent;
    }
  }

  #take({ object, type }: WatchEvent): void {
    const { pods } = this.#options;
    if (type === 'ADDED' || type === 'MODIFIED') pods.put(object);
    else if (type === 'DELETED') pods.noteGone(object);
    else if (type === 'ERROR' && object.code === GONE) throw new TooOld();
    else if (type === 'ERROR') throw new Error(object.message ?? 'the watch ended with an error');
  }

  #backoffMs(failures: number): number {
    const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (failures - 1));
    return ceiling * (0.5 + this.#options.random.fraction() / 2);
  }
}

function breakReason(error: unknown): 'too-old' | 'silent' | 'failed' {
  if (error instanceof TooOld || isAnswered(error, GONE)) return 'too-old';
  return error instanceof FellSilent ? 'silent' : 'failed';
}
