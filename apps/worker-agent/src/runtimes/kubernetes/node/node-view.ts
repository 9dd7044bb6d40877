import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { ClusterApi } from '@berth/cluster-api';
import type { NodeObject, ObjectList, PodObject } from '../api/kube-objects.js';
import { POD_HOST_LABEL, roleOf, type PodRole } from '../pods/pod-labels.js';
import { nodeRoom, type NodeFacts, type NodeRoom } from './node-room.js';

export interface NodeViewOptions {
  readonly api: ClusterApi;
  readonly nodeName: string;
  readonly hostId: HostId;
  readonly facts: NodeFacts;
  readonly prepared: () => readonly string[];
  readonly clock: Clock;
}

/** What others have on the node changes seldom, and every report asks. */
const REFRESH_MS = 15_000;

interface Look {
  readonly node: NodeObject;
  readonly others: readonly PodObject[];
  /** On this node: they make room for whoever they stand for, so they take none. */
  readonly placeholders: readonly PodObject[];
  readonly atMs: number;
}

/** The node of this agent, as the API told it a moment ago. */
export class NodeView {
  readonly #options: NodeViewOptions;
  #look: Look | null = null;

  constructor(options: NodeViewOptions) {
    this.#options = options;
  }

  /** @throws ClusterError, and what the connection throws, where nothing has been told yet */
  async node(): Promise<NodeObject> {
    return (await this.#seen()).node;
  }

  /** @throws as `node` */
  async room(): Promise<NodeRoom> {
    const { facts, prepared } = this.#options;
    const { node, others } = await this.#seen();
    return nodeRoom(node, others, { facts, prepared: prepared() });
  }

  /** As it is now, however lately somebody asked. @throws as `node` */
  roomNow(): Promise<NodeRoom> {
    this.#look = null;
    return this.room();
  }

  /** Those that the last look found. @throws as `node` */
  async placeholders(): Promise<readonly PodObject[]> {
    return (await this.#seen()).placeholders;
  }

  async #seen(): Promise<Look> {
    const { clock } = this.#options;
    const known = this.#look;
    if (known !== null && clock.monotonicMs() - known.atMs < REFRESH_MS) return known;
    this.#look = await this.#ask();
    return this.#look;
  }

  async #ask(): Promise<Look> {
    const { api, clock, hostId, nodeName } = this.#options;
    const fieldSelector = `spec.nodeName=${nodeName}`;
    const [node, pods] = await Promise.all([
      api.ask<NodeObject>(`/api/v1/nodes/${encodeURIComponent(nodeName)}`),
      api.ask<ObjectList<PodObject>>('/api/v1/pods', {
        query: { fieldSelector, labelSelector: `${POD_HOST_LABEL}!=${hostId}` },
      }),
    ]);
    const isPlaceholder = (pod: PodObject): boolean => roleOf(pod) === ('placeholder' satisfies PodRole);
    const all = pods.items ?? [];
    return {
      node,
      others: all.filter((pod) => !isPlaceholder(pod)),
      placeholders: all.filter(isPlaceholder),
      atMs: clock.monotonicMs(),
    };
  }
}
