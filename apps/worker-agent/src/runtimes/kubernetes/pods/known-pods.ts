import type { Clock } from '@berth/lifecycle';
import type { PodObject } from '../api/kube-objects.js';
import { roleOf } from './pod-labels.js';

/** A Pod as it was last told. */
export interface KnownPod {
  readonly pod: PodObject;
  /** The API has it no longer. How it ended is still told, until it is forgotten. */
  readonly isGone: boolean;
}

export interface WaitOptions {
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** A Pod whose end nobody has asked about is remembered no longer beyond these. */
const GONE_MAX = 1_000;

/** What is known of a host's Pods, by their names, which workers keep over their lives. */
export class KnownPods {
  readonly #pods = new Map<string, KnownPod>();
  readonly #listeners = new Set<() => void>();

  get all(): readonly KnownPod[] {
    return [...this.#pods.values()];
  }

  find(name: string): KnownPod | undefined {
    return this.#pods.get(name);
  }

  put(pod: PodObject): void {
    this.#pods.set(pod.metadata.name, { pod, isGone: false });
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

  replaceAll(pods: readonly PodObject[]): void {
    const names = new Set(pods.map(({ metadata }) => metadata.name));
    for (const pod of pods) this.#pods.set(pod.metadata.name, { pod, isGone: false });
    for (const [name, { pod }] of this.#pods) if (!names.has(name)) this.#goes(pod);
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

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** How a Pod ended that was none of a worker is asked by nobody. */
  #goes(pod: PodObject): void {
    if (roleOf(pod) !== 'worker') {
      this.#pods.delete(pod.metadata.name);
      return;
    }
    this.#pods.set(pod.metadata.name, { pod, isGone: true });
    const gone = [...this.#pods].filter(([, { isGone }]) => isGone);
    for (const [name] of gone.slice(0, Math.max(0, gone.length - GONE_MAX))) this.#pods.delete(name);
  }
}
