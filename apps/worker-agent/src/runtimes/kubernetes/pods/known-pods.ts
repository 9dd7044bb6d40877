import type { Clock } from '@berth/lifecycle';
import type { PodObject } from '../api/kube-objects.js';
import { isCopy, roleOf } from './pod-labels.js';

/** A Pod as it was last told. */
export interface KnownPod {
  readonly pod: PodObject;
  /** The API has it no longer. How it ended is still told, until it is forgotten. */
  readonly isGone: boolean;
}

/** Where a list of Pods stands among what is told of them. */
interface ListStanding {
  /** The `moment` when it was asked for. */
  readonly askedAt: number;
  /** The API's own. */
  readonly version: string;
}

export interface WaitOptions {
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** A Pod whose end nobody has asked about is remembered no longer beyond these. */
const GONE_MAX = 1_000;

const NUMBER = /^\d{1,20}$/;

/** Versions of an API's objects and lists are numbers that grow; of others nothing can be said. */
function isNewer({ metadata: { resourceVersion = '' } }: PodObject, version: string): boolean {
  return NUMBER.test(resourceVersion) && NUMBER.test(version) && BigInt(resourceVersion) > BigInt(version);
}

/** What is known of a host's Pods, by their names, which workers keep over their lives. */
export class KnownPods {
  readonly #pods = new Map<string, KnownPod & { readonly atMoment: number }>();
  readonly #listeners = new Set<() => void>();
  #moment = 0;

  get all(): readonly KnownPod[] {
    return [...this.#pods.values()];
  }

  find(name: string): KnownPod | undefined {
    return this.#pods.get(name);
  }

  put(pod: PodObject): void {
    this.#set(pod, false);
    this.#tell();
  }

  /** Of one that was made just now; the watch may have told more of it already. */
  putNew(pod: PodObject): void {
    if (this.find(pod.metadata.name)?.pod.metadata.uid !== pod.metadata.uid) this.put(pod);
  }

  noteGone(pod: PodObject): void {
    // The name may be another Pod's by now.
    if (this.find(pod.metadata.name)?.pod.metadata.uid !== pod.metadata.uid) return;
    this.#goes(pod);
    this.#tell();
  }

  /** Grows with all that is told: what a list is asked at. */
  get moment(): number {
    return this.#moment;
  }

  /**
   * Of a Pod that is newer than the list, made while that was on its way, the list says nothing: a watch that begins at its
   * version will. A cluster that was set back has smaller versions; so only what came since the question can be newer.
   */
  replaceAll(pods: readonly PodObject[], { askedAt, version }: ListStanding): void {
    const told = new Map(pods.map((pod) => [pod.metadata.name, pod]));
    for (const [name, { atMoment, pod }] of this.#pods) {
      if (atMoment > askedAt && isNewer(pod, version)) told.delete(name);
      else if (!told.has(name)) this.#goes(pod);
    }
    for (const pod of told.values()) this.#set(pod, false);
    this.#tell();
  }

  /** Of one that is gone. One that is there stays. */
  forget(name: string): void {
    if (this.find(name)?.isGone === true) this.#pods.delete(name);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What `look` finds, now or after a change; null when the time is over or the signal aborts. */
  async waitFor<T>(look: () => T | null, { clock, deadlineMs, signal }: WaitOptions): Promise<T | null> {
    const seen = look();
    if (seen !== null || signal?.aborted === true) return seen;
    return new Promise((resolve) => {
      const end = (found: T | null): void => {
        forget();
        unlisten();
        signal?.removeEventListener('abort', onAbort);
        resolve(found);
      };
      const onAbort = (): void => {
        end(null);
      };
      const forget = clock.after(deadlineMs, onAbort);
      const unlisten = this.onChange(() => {
        const found = look();
        if (found !== null) end(found);
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #set(pod: PodObject, isGone: boolean): void {
    this.#moment += 1;
    this.#pods.set(pod.metadata.name, { pod, isGone, atMoment: this.#moment });
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** How a Pod ended that was none of a worker is asked by nobody. */
  #goes(pod: PodObject): void {
    if (roleOf(pod) !== 'worker' || isCopy(pod)) {
      this.#pods.delete(pod.metadata.name);
      return;
    }
    this.#set(pod, true);
    const gone = [...this.#pods].filter(([, { isGone }]) => isGone);
    for (const [name] of gone.slice(0, Math.max(0, gone.length - GONE_MAX))) this.#pods.delete(name);
  }
}
