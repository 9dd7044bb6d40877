import type { ClusterApi } from '@berth/cluster-api';
import type { Clock } from '@berth/lifecycle';
import { askApiUnless } from '../api/cluster-errors.js';
import type { PodObject } from '../api/kube-objects.js';
import { podsPath } from '../pods/worker-pods.js';

export interface YieldOptions {
  readonly api: Pick<ClusterApi, 'ask'>;
  readonly namespace: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** A kubelet ends one within its grace of a second. */
const GONE_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 200;
const NOT_FOUND = 404;
/** Another is there under its name. */
const CONFLICT = 409;

/**
 * Takes placeholders off the node and waits until it has ended them: a kubelet refuses a worker for which a placeholder has
 * the room. One that stays is no reason to give up: the kubelet decides whether there is room all the same.
 *
 * @throws RuntimeError `runtime-unavailable`
 */
export async function yieldPlaceholders(placeholders: readonly PodObject[], options: YieldOptions): Promise<void> {
  const { api, clock, namespace, signal } = options;
  const pathOf = ({ metadata }: PodObject): string => `${podsPath(namespace)}/${metadata.name}`;
  const untilMs = clock.monotonicMs() + GONE_WITHIN_MS;
  const what = 'A placeholder cannot be removed';
  for (const each of placeholders) {
    const body = { preconditions: { uid: each.metadata.uid } };
    await askApiUnless([NOT_FOUND, CONFLICT], what, () => api.ask(pathOf(each), { method: 'DELETE', body, signal }));
  }
  for (const each of placeholders) {
    while (clock.monotonicMs() < untilMs && (await isThere(each))) await clock.sleep(LOOK_AGAIN_MS, signal);
  }

  /** Another may have its name by now, elsewhere. */
  async function isThere(pod: PodObject): Promise<boolean> {
    const found = await askApiUnless([NOT_FOUND], what, () => api.ask<PodObject>(pathOf(pod), { signal }));
    return found?.metadata.uid === pod.metadata.uid;
  }
}
