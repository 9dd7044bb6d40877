import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { ClusterApi } from '@berth/cluster-api';
import type { Logger } from '@berth/telemetry';
import type { NodeObject, ObjectList, PodObject } from '../api/kube-objects.js';
import { POD_HOST_LABEL, ROLE_LABEL, type PodRole } from '../pods/pod-labels.js';
import { nodeRoom, type NodeFacts, type NodeRoom } from './node-room.js';

export interface NodeViewOptions {
  readonly api: Pick<ClusterApi, 'ask'>;
  readonly nodeName: string;
  /** Of the workers. */
  readonly namespace: string;
  readonly hostId: HostId;
  readonly facts: NodeFacts;
  readonly prepared: () => readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What others have on the node changes seldom, and every report asks. */
const REFRESH_MS = 15_000;
/** An API that is well answers within moments. */
const ANSWER_MAX_MS = 5_000;

type Standing = 'own' | 'placeholder' | 'other';

interface Look {
  readonly node: NodeObject;
  readonly others: readonly PodObject[];
  /** On this node: they make room for whoever they stand for, so they take none. */
  readonly placeholders: readonly PodObject[];
  /** When the API was asked for it. */
  readonly atMs: number;
}

/** The node of this agent, as the API told it a moment ago. */
export class NodeView {
  readonly #options: NodeViewOptions;
  #look: Look | null = null;
  #isRefreshing = false;
  #isSeen = true;

  constructor(options: NodeViewOptions) {
    this.#options = options;
  }

  /**
   * As it was told last. A report to the control plane tells it, and one that waited for this API would make a host with
   * running workers look lost; so where it was told a while ago it is asked for beside that.
   *
   * @throws ClusterError, and what the connection throws, where nothing has been told yet
   */
  async room(): Promise<NodeRoom> {
    const known = this.#look;
    if (known === null) return this.roomNow();
    if (this.#options.clock.monotonicMs() - known.atMs >= REFRESH_MS) void this.#refresh();
    return this.#roomIn(known);
  }

  /** As it is now, however lately somebody asked. @throws ClusterError, and what the connection throws */
  async roomNow(): Promise<NodeRoom> {
    return this.#roomIn(await this.#ask());
  }

  /** Those that the last look found. */
  get placeholders(): readonly PodObject[] {
    return this.#look?.placeholders ?? [];
  }

  #roomIn({ node, others }: Look): NodeRoom {
    const { facts, prepared } = this.#options;
    return nodeRoom(node, others, { facts, prepared: prepared() });
  }

  async #refresh(): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      await this.#ask();
      this.#isSeen = true;
    } catch (error) {
      if (this.#isSeen) this.#options.logger.warn('the node cannot be seen; it is told as it was', { error });
      this.#isSeen = false;
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #ask(): Promise<Look> {
    const { api, clock, nodeName } = this.#options;
    const atMs = clock.monotonicMs();
    const timeoutMs = ANSWER_MAX_MS;
    const query = { fieldSelector: `spec.nodeName=${nodeName}` };
    const [node, { items = [] }] = await Promise.all([
      api.ask<NodeObject>(`/api/v1/nodes/${encodeURIComponent(nodeName)}`, { timeoutMs }),
      api.ask<ObjectList<PodObject>>('/api/v1/pods', { query, timeoutMs }),
    ]);
    const standingOf = (pod: PodObject): Standing => this.#standingOf(pod);
    const others = items.filter((pod) => standingOf(pod) === 'other');
    const placeholders = items.filter((pod) => standingOf(pod) === 'placeholder');
    const look = { node, others, placeholders, atMs };
    // The answer to a later question may be here already.
    if (this.#look === null || this.#look.atMs <= atMs) this.#look = look;
    return look;
  }

  /** Labels are believed only in the namespace of the workers: elsewhere anybody may put them on a Pod. */
  #standingOf({ metadata }: PodObject): Standing {
    const { hostId, namespace } = this.#options;
    const { [POD_HOST_LABEL]: host, [ROLE_LABEL]: role } = metadata.labels ?? {};
    if (metadata.namespace !== namespace) return 'other';
    if (host !== undefined) return host === hostId ? 'own' : 'other';
    return role === ('placeholder' satisfies PodRole) ? 'placeholder' : 'other';
  }
}
