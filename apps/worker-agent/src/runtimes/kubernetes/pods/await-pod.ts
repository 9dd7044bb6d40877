import { RuntimeError } from '../../runtime-error.js';
import type { StartOptions } from '../../container-runtime.port.js';
import type { PodObject } from '../api/kube-objects.js';
import type { KnownPods, WaitOptions } from './known-pods.js';
import { newestWarning, type WarningsPlace } from './newest-warning.js';

export interface PodWait extends WaitOptions, WarningsPlace {
  readonly pods: KnownPods;
  readonly name: string;
  /** Told what its kubelet complains of while it does not begin. */
  readonly onHeldUp: StartOptions['onHeldUp'];
}

/** How long a Pod waits in silence. */
const SILENCE_MS = 5_000;
/** Volumes come to some nodes after minutes. */
const BEGIN_MAX_MS = 10 * 60_000;

/**
 * What `look` finds of a Pod, now or after a change; null when the time is over or the signal aborts.
 *
 * @returns RuntimeError `runtime-unavailable` where its node has not begun with it within ten minutes
 */
export async function awaitPod<T>(look: () => T | null, wait: PodWait): Promise<T | RuntimeError | null> {
  const { clock, deadlineMs, pods, signal } = wait;
  const untilMs = clock.monotonicMs() + deadlineMs;
  const beginning = new PodBeginning(wait);
  const lookAtBoth = (): T | null => {
    beginning.look();
    return look();
  };
  for (;;) {
    const leftMs = untilMs - clock.monotonicMs();
    const end = await pods.waitFor(lookAtBoth, { clock, signal, deadlineMs: Math.min(SILENCE_MS, leftMs) });
    if (end !== null || signal?.aborted === true) return end;
    const failure = await beginning.check();
    if (failure !== null || leftMs <= SILENCE_MS) return failure;
  }
}

/** Whether the node of a Pod begins with it, and what it complains of while it does not. */
class PodBeginning {
  readonly #wait: PodWait;
  readonly #untilMs: number;
  #warning: string | null = null;

  constructor(wait: PodWait) {
    this.#wait = wait;
    this.#untilMs = wait.clock.monotonicMs() + BEGIN_MAX_MS;
  }

  /** What was complained of is over once it begins. */
  look(): void {
    if (this.#waitingPod() === null) this.#note(null);
  }

  async check(): Promise<RuntimeError | null> {
    const pod = this.#waitingPod();
    if (pod === null) return null;
    const warning = await newestWarning(pod, this.#wait);
    // It may have begun while the cluster was asked.
    if (this.#waitingPod() === null) return null;
    if (warning !== null) this.#note(warning);
    return this.#wait.clock.monotonicMs() >= this.#untilMs ? notBegun(this.#warning) : null;
  }

  /** Null where it has begun, and where it is gone. */
  #waitingPod(): PodObject | null {
    const known = this.#wait.pods.find(this.#wait.name);
    return known === undefined || hasBegun(known.pod) ? null : known.pod;
  }

  #note(warning: string | null): void {
    if (warning === this.#warning) return;
    this.#warning = warning;
    this.#wait.onHeldUp?.(warning === null ? null : `its node has not begun with it: ${warning}`);
  }
}

/**
 * Whether its kubelet has made what its containers run in: after that, what it waits for stands in its status. A kubelet
 * before Kubernetes 1.29 does not tell; it is believed to have.
 */
function hasBegun({ status = {} }: PodObject): boolean {
  if (status.containerStatuses === undefined) return false;
  const made = status.conditions?.find(({ type }) => type === 'PodReadyToStartContainers');
  return made?.status !== 'False';
}

const notBegun = (warning: string | null): RuntimeError =>
  new RuntimeError(
    'runtime-unavailable',
    `Its node has not begun with it within 10 minutes: ${warning ?? 'it does not say why'}`,
  );
