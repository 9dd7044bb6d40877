import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ClusterApi } from '@berth/cluster-api';
import { askApiUnless } from '../api/cluster-errors.js';
import type { PodObject } from '../api/kube-objects.js';
import type { KnownPods } from './known-pods.js';
import { isCopy, labelsOf } from './pod-labels.js';

export interface PodCopiesOptions {
  readonly api: Pick<ClusterApi, 'ask'>;
  readonly pods: KnownPods;
  /** Of the namespace's Pods. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One that could not be removed is asked to go again after it, with the next change of any Pod. */
const ASK_AGAIN_MS = 60_000;
/** A kubelet knows no shorter grace. What it runs has no jobs of its own to end. */
const GRACE_S = 1;

/**
 * Removes copies of a host's workers' Pods, as somebody makes them from what the API tells of one. Such a one is no worker,
 * and is not left alone either: it has the worker's own token to take jobs with, and takes room that is not counted.
 */
export class PodCopies {
  readonly #options: PodCopiesOptions;
  /** By uid, when each was asked to go. */
  readonly #askedAtMs = new Map<string, number>();

  constructor(options: PodCopiesOptions) {
    this.#options = options;
  }

  /** Returns the function that ends it. */
  watch(): () => void {
    return this.#options.pods.onChange(() => {
      this.#look();
    });
  }

  #look(): void {
    const { clock, pods } = this.#options;
    const copies = pods.all.flatMap(({ isGone, pod }) => (!isGone && isCopy(pod) ? [pod] : []));
    const present = new Set(copies.map(({ metadata }) => metadata.uid));
    for (const uid of this.#askedAtMs.keys()) if (!present.has(uid)) this.#askedAtMs.delete(uid);
    const nowMs = clock.monotonicMs();
    for (const pod of copies) {
      const { deletionTimestamp, uid } = pod.metadata;
      const isDue = nowMs - (this.#askedAtMs.get(uid) ?? Number.NEGATIVE_INFINITY) >= ASK_AGAIN_MS;
      if (!isDue || deletionTimestamp !== undefined) continue;
      this.#askedAtMs.set(uid, nowMs);
      void this.#remove(pod);
    }
  }

  async #remove(pod: PodObject): Promise<void> {
    const { api, logger, path } = this.#options;
    const { name, uid } = pod.metadata;
    const facts = { pod: name, workerId: labelsOf(pod)?.workerId };
    logger.warn('a Pod is a copy of the Pod of a worker; it is removed', facts);
    const question = { method: 'DELETE', body: { gracePeriodSeconds: GRACE_S, preconditions: { uid } } } as const;
    try {
      await askApiUnless([404, 409], 'It cannot be removed', () => api.ask(`${path}/${name}`, question));
    } catch (error) {
      logger.warn('the copy of the Pod of a worker stays', { ...facts, error });
    }
  }
}
