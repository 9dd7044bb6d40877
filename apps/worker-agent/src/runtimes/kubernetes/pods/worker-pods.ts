import type { WorkerId } from '@berth/domain';
import type { V1Pod } from '@kubernetes/client-node';
import type { Clock } from '@berth/lifecycle';
import type { OwnedContainer, StartOptions } from '../../container-runtime.port.js';
import { RuntimeError, throwIfCancelled } from '../../runtime-error.js';
import type { ClusterApi } from '@berth/cluster-api';
import { askApiUnless, fromClusterError } from '../api/cluster-errors.js';
import type { PodObject } from '../api/kube-objects.js';
import { awaitPod } from './await-pod.js';
import type { KnownPods } from './known-pods.js';
import { podFailure } from './pod-failure.js';
import { podName } from './pod-labels.js';
import { podContainer } from './pod-look.js';
import { signalPod } from './signal-pod.js';

export interface WorkerPodsOptions {
  readonly api: Pick<ClusterApi, 'ask' | 'config'>;
  readonly pods: KnownPods;
  readonly namespace: string;
  readonly clock: Clock;
}

/** An image that the node has lost meanwhile is pulled at the start. */
const START_MAX_MS = 10 * 60_000;
const REMOVE_MAX_MS = 60_000;
/** How long the shell of an image has to do what it was asked for. */
const KILL_PATIENCE_MS = 2_000;
/** The kubelet knows no shorter grace. */
const SHORTEST_GRACE_S = 1;
/** As old as every Pod is: its kubelet ends it, and leaves the Pod and its log. */
const OVER_AT_ONCE = { spec: { activeDeadlineSeconds: 1 } };

/** The Pods of a host's workers, one each. */
export class WorkerPods {
  readonly #options: WorkerPodsOptions;
  /** Uids of those that this agent has asked to go. */
  readonly #asked = new Set<string>();

  constructor(options: WorkerPodsOptions) {
    this.#options = options;
  }

  find(workerId: WorkerId): OwnedContainer | null {
    return this.#owned(podName(workerId));
  }

  get all(): readonly OwnedContainer[] {
    return this.#options.pods.all.flatMap(({ pod }) => this.#owned(pod.metadata.name) ?? []);
  }

  /** Resolves once its program was started. @throws RuntimeError as `ContainerRuntime.start` */
  async create(workerId: WorkerId, body: V1Pod, { onHeldUp, signal }: StartOptions): Promise<OwnedContainer> {
    const { api, namespace, pods } = this.#options;
    const name = podName(workerId);
    const what = `Worker ${workerId} could not be started`;
    const image = body.spec?.containers[0]?.image ?? '';
    throwIfCancelled(signal);
    try {
      pods.forget(name);
      // Without the signal: of a Pod whose answer nobody heard it would not be known that it has to go.
      pods.putNew(await api.ask<PodObject>(podsPath(namespace), { method: 'POST', body }));
    } catch (error) {
      throw fromClusterError(error, what, 'start-failed');
    }
    const wait = { ...this.#options, name, deadlineMs: START_MAX_MS, onHeldUp, signal };
    const end = await awaitPod(() => this.#startEnd(name, image), wait);
    throwIfCancelled(signal);
    if (end === null) throw new RuntimeError('runtime-unavailable', `${what}: its node says nothing of it.`);
    if (end instanceof RuntimeError) throw end;
    return end;
  }

  /** Asks its program to end, by SIGTERM. */
  async stop(workerId: WorkerId): Promise<void> {
    // One that is taken away has got its signal: programs take a second one for impatience.
    if (!this.#isRunning(workerId) || this.find(workerId)?.isTakenAway === true) return;
    if ((await this.#signal(workerId, 'SIGTERM')) || !this.#isRunning(workerId)) return;
    // An image without a shell: its kubelet sends the signal, and counts the grace that the Pod was made with.
    await this.#unless404(`Worker ${workerId} cannot be ended`, podName(workerId), {
      ...{ method: 'PATCH', body: OVER_AT_ONCE, contentType: 'application/merge-patch+json' },
    });
  }

  async kill(workerId: WorkerId): Promise<void> {
    const { clock, pods } = this.#options;
    if (!this.#isRunning(workerId)) return;
    if (await this.#signal(workerId, 'SIGKILL')) {
      const isOver = (): true | null => (this.#isRunning(workerId) ? null : true);
      if ((await pods.waitFor(isOver, { clock, deadlineMs: KILL_PATIENCE_MS })) === true) return;
    }
    await this.#delete(workerId, SHORTEST_GRACE_S);
  }

  /** Resolves when the API has it no longer, which is after its kubelet has ended it. */
  async remove(workerId: WorkerId, signal: AbortSignal | undefined): Promise<void> {
    const { clock, pods } = this.#options;
    const name = podName(workerId);
    await this.kill(workerId);
    const isOver = this.find(workerId)?.state.kind === 'ended';
    await this.#delete(workerId, isOver ? 0 : SHORTEST_GRACE_S);
    const isGone = (): true | null => ((pods.find(name)?.isGone ?? true) ? true : null);
    const gone = await pods.waitFor(isGone, { clock, deadlineMs: REMOVE_MAX_MS, signal });
    throwIfCancelled(signal);
    if (gone === null) throw new RuntimeError('runtime-unavailable', `Worker ${workerId} cannot be removed: it stays.`);
    this.#asked.delete(pods.find(name)?.pod.metadata.uid ?? '');
    pods.forget(name);
  }

  #startEnd(name: string, image: string): OwnedContainer | RuntimeError | null {
    const known = this.#options.pods.find(name);
    const owned = this.#owned(name);
    if (known === undefined || owned === null) return null;
    // As with a node that goes: it says nothing of what was started, and must not count against its release.
    if (known.isGone) return new RuntimeError('no-room', 'The cluster took it away while it was started.');
    return podFailure(known.pod, image) ?? (owned.state.kind === 'created' ? null : owned);
  }

  #owned(name: string): OwnedContainer | null {
    const known = this.#options.pods.find(name);
    if (known === undefined) return null;
    const isOwnDoing = this.#asked.has(known.pod.metadata.uid);
    return podContainer(known.pod, { isGone: known.isGone, isOwnDoing });
  }

  #isRunning(workerId: WorkerId): boolean {
    const kind = this.find(workerId)?.state.kind;
    return kind === 'running' || kind === 'created';
  }

  #signal(workerId: WorkerId, signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean> {
    const { api, clock, namespace } = this.#options;
    return signalPod(signal, { config: api.config, clock, namespace, name: podName(workerId) });
  }

  async #delete(workerId: WorkerId, gracePeriodSeconds: number): Promise<void> {
    const name = podName(workerId);
    const known = this.#options.pods.find(name);
    if (known === undefined || known.isGone) return;
    const { uid } = known.pod.metadata;
    this.#asked.add(uid);
    await this.#unless404(`Worker ${workerId} cannot be removed`, name, {
      ...{ method: 'DELETE', body: { gracePeriodSeconds, preconditions: { uid } } },
    });
  }

  /** 404: it has gone; 409: it has, and another is there under its name. */
  async #unless404(what: string, name: string, question: Parameters<ClusterApi['ask']>[1]): Promise<void> {
    const { api, namespace } = this.#options;
    await askApiUnless([404, 409], what, () => api.ask(`${podsPath(namespace)}/${name}`, question));
  }
}

export const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
