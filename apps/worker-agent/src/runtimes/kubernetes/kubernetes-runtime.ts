import type { HostId, Inventory, WorkerId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import {
  type CallOptions,
  type ContainerRuntime,
  type ContainerStart,
  type ImageRequest,
  type OwnedContainer,
  type PrepareOptions,
  type PrintedBatch,
  type StartOptions,
} from '../container-runtime.port.js';
import { throwIfCancelled } from '../runtime-error.js';
import type { ClusterApi } from '@berth/cluster-api';
import { askApi, fromClusterError } from './api/cluster-errors.js';
import { NodeImages } from './images/node-images.js';
import { withPullSecret } from './images/pull-secret.js';
import { kubernetesMetrics, type KubernetesMetrics } from './metrics.js';
import { NodeGpus } from './node/node-gpus.js';
import type { NodeFacts, NodeRoom } from './node/node-room.js';
import { NodeView } from './node/node-view.js';
import { openNode } from './node/open-node.js';
import { yieldPlaceholders } from './node/yield-placeholders.js';
import { followPod } from './pods/follow-pod.js';
import { KnownPods } from './pods/known-pods.js';
import { PodCopies } from './pods/pod-copies.js';
import { hostSelector, podGpuNames, podName } from './pods/pod-labels.js';
import { workerPod, type PodSurroundings } from './pods/pod-spec.js';
import { readPodTail } from './pods/pod-tail.js';
import { PodWatch } from './pods/pod-watch.js';
import { WorkerPods, podsPath } from './pods/worker-pods.js';

/** What all Pods of a host have around them. */
type HostSurroundings = Omit<PodSurroundings, 'cores' | 'gpus' | 'vcpuShare' | 'nodeUid' | 'pullSecret'>;

/** What the Pod of a worker has around it, but for what is there only while it starts. */
type WorkerSurroundings = Omit<PodSurroundings, 'pullSecret'>;

export interface KubernetesRuntimeOptions {
  readonly api: Pick<ClusterApi, 'ask' | 'config' | 'read' | 'stream'>;
  readonly hostId: HostId;
  readonly around: HostSurroundings;
  readonly facts: NodeFacts;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/**
 * Workers as Pods of one node of a cluster, each bound to it. What is known of them is what the API tells in a watch; an
 * API that is away leaves it as it was, and the workers go on.
 */
export class KubernetesRuntime implements ContainerRuntime {
  /** A kubelet leaves a Pod that has ended, and that it shall not start again, until somebody deletes it. */
  readonly isTakenAwayWhenGone = true;
  readonly #options: KubernetesRuntimeOptions;
  readonly #nodeUid: string;
  readonly #pods = new KnownPods();
  readonly #workers: WorkerPods;
  readonly #images: NodeImages;
  readonly #node: NodeView;
  readonly #gpus = new NodeGpus();
  /** Workers whose Pods are not there yet, but whose GPUs are. */
  readonly #starting = new Set<WorkerId>();
  readonly #closing = new AbortController();
  readonly #metrics: KubernetesMetrics;
  #watching: Promise<void> = Promise.resolve();
  #endCopies = (): void => undefined;

  private constructor(options: KubernetesRuntimeOptions, nodeUid: string) {
    const { api, around, clock, facts, hostId, logger, metrics, random } = options;
    this.#options = options;
    this.#nodeUid = nodeUid;
    this.#metrics = kubernetesMetrics(metrics);
    const { namespace, nodeName } = around;
    const own = { api, pods: this.#pods, clock };
    this.#workers = new WorkerPods({ ...own, namespace });
    const assertOpen = async (): Promise<void> => void (await this.#openRoom());
    this.#images = new NodeImages({ ...own, hostId, random, assertOpen, around: { ...around, nodeUid } });
    const prepared = (): readonly string[] => this.#images.prepared;
    this.#node = new NodeView({ api, clock, logger, hostId, facts, prepared, namespace, nodeName });
  }

  /** @throws RuntimeError `runtime-unavailable` where the API does not answer, or not to this agent */
  static async open(options: KubernetesRuntimeOptions): Promise<KubernetesRuntime> {
    const { api, around } = options;
    return askApi('The cluster cannot be used', async () => {
      const path = `/api/v1/nodes/${encodeURIComponent(around.nodeName)}`;
      const { metadata } = await api.ask<{ readonly metadata: { readonly uid: string } }>(path);
      const runtime = new KubernetesRuntime(options, metadata.uid);
      await runtime.#begin();
      return runtime;
    });
  }

  async #begin(): Promise<void> {
    const { api, around, clock, hostId, logger, random } = this.#options;
    await this.#images.sweep();
    // From here on there is something to report, whether or not the API is there.
    await this.#node.roomNow();
    const watch = new PodWatch({
      ...{ api, clock, logger, random, pods: this.#pods, metrics: this.#metrics },
      path: podsPath(around.namespace),
      labelSelector: hostSelector(hostId),
    });
    const copies = new PodCopies({ api, clock, logger, pods: this.#pods, path: podsPath(around.namespace) });
    this.#endCopies = copies.watch();
    const from = await watch.list();
    for (const { labels } of this.#workers.all) {
      const pod = this.#pods.find(podName(labels.workerId))?.pod;
      if (pod !== undefined) this.#gpus.adopt(labels.workerId, podGpuNames(pod));
    }
    this.#watching = watch.run(from, this.#closing.signal);
  }

  async inventory(_options: CallOptions = {}): Promise<Inventory> {
    return (await askApi('The node cannot be seen', () => this.#node.room())).inventory;
  }

  async prepare(request: ImageRequest, options: PrepareOptions = {}): Promise<void> {
    await this.#images.ensure(request, options);
  }

  async start(start: ContainerStart, options: StartOptions = {}): Promise<OwnedContainer> {
    const { signal } = options;
    const { workerId } = start.labels;
    const present = this.#workers.find(workerId);
    if (present?.state.kind === 'running') return present;
    if (present !== null) await this.remove(workerId, signal === undefined ? {} : { signal });
    throwIfCancelled(signal);
    this.#starting.add(workerId);
    try {
      const around = await this.#around(start);
      await this.#makeRoom(signal);
      return await this.#create(start, around, options);
    } catch (error) {
      // Why it did not start is the news, not whether what was made could be removed: the next start replaces it.
      await this.remove(workerId).catch(() => undefined);
      throwIfCancelled(signal);
      throw error;
    } finally {
      this.#starting.delete(workerId);
    }
  }

  /** Placeholders have done their part where there is a worker for the node. */
  async #makeRoom(signal: AbortSignal | undefined): Promise<void> {
    const { api, around, clock } = this.#options;
    await yieldPlaceholders(this.#node.placeholders, { api, namespace: around.namespace, clock, signal });
  }

  /** With what its kubelet needs to ask a private registry, until it runs: the kubelet may ask it again for every Pod. */
  async #create(start: ContainerStart, around: WorkerSurroundings, options: StartOptions): Promise<OwnedContainer> {
    const { api, hostId, random } = this.#options;
    const { image, workerId } = start.labels;
    const { signal } = options;
    const wanted = { image, credentials: start.credentials ?? null };
    const create = (pullSecret: string | null): Promise<OwnedContainer> =>
      this.#workers.create(workerId, workerPod(start, { ...around, pullSecret }), options);
    try {
      return await withPullSecret(wanted, { api, hostId, random, around, signal }, create);
    } catch (error) {
      throw fromClusterError(error, `Worker ${workerId} could not be started`, 'start-failed');
    }
  }

  async #around(start: ContainerStart): Promise<WorkerSurroundings> {
    const { workerId } = start.labels;
    const { cores, inventory, vcpuShare } = await this.#openRoom();
    // Another life of the agent, or an administrator, may have removed who held them.
    this.#gpus.keepOnly((each) => this.#starting.has(each) || this.#workers.find(each) !== null);
    const names = this.#gpus.take(workerId, start.gpu, inventory.gpus);
    const gpus = { names, areReal: !inventory.areGpusSimulated };
    return { ...this.#options.around, cores, vcpuShare, gpus, nodeUid: this.#nodeUid };
  }

  /** @throws RuntimeError `no-room` where nothing may be started on the node as it is, `runtime-unavailable` */
  async #openRoom(): Promise<NodeRoom> {
    const { around, hostId } = this.#options;
    const own = { nodeName: around.nodeName, nodeUid: this.#nodeUid, hostId };
    return openNode(() => this.#node.roomNow(), own);
  }

  async inspect(workerId: WorkerId, _options: CallOptions = {}): Promise<OwnedContainer | null> {
    return this.#workers.find(workerId);
  }

  async list(_options: CallOptions = {}): Promise<readonly OwnedContainer[]> {
    return this.#workers.all;
  }

  async stop(workerId: WorkerId, _graceMs: number, _options: CallOptions = {}): Promise<void> {
    await this.#workers.stop(workerId);
  }

  async kill(workerId: WorkerId, _options: CallOptions = {}): Promise<void> {
    await this.#workers.kill(workerId);
  }

  async remove(workerId: WorkerId, { signal }: CallOptions = {}): Promise<void> {
    const state = this.#workers.find(workerId)?.state;
    await this.#workers.remove(workerId, signal);
    if (state?.kind === 'ended' && state.exit.cause === 'evicted') this.#metrics.evictions.inc();
    this.#gpus.release(workerId);
  }

  async logs(workerId: WorkerId, lines: number, { signal }: CallOptions = {}): Promise<readonly string[]> {
    if (this.#workers.find(workerId) === null) return [];
    return readPodTail(lines, { api: this.#options.api, signal, ...this.#logOf(workerId) });
  }

  follow(workerId: WorkerId, position: string | null, signal: AbortSignal): AsyncIterable<PrintedBatch> {
    const { api, clock } = this.#options;
    const ends = AbortSignal.any([signal, this.#closing.signal]);
    const look = (): OwnedContainer | null => this.#workers.find(workerId);
    return followPod(position, { api, clock, look, signal: ends, ...this.#logOf(workerId) });
  }

  watch(onChange: () => void): () => void {
    return this.#pods.onChange(onChange);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#endCopies();
    await this.#watching;
  }

  #logOf(workerId: WorkerId): { readonly path: string; readonly onWords: (words: string) => void } {
    const { around, logger } = this.#options;
    const onWords = (words: string): void => {
      logger.warn('a node has words of its own in place of the log of a worker', { workerId, words });
    };
    return { path: `${podsPath(around.namespace)}/${podName(workerId)}/log`, onWords };
  }
}
