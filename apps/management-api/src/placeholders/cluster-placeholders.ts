import { isAnswered, type ClusterApi } from '@berth/cluster-api';
import type { Placeholder, PlaceholderWish } from '@berth/domain';
import { listOf, mapOf, objectOf, optional, readShape, requireRead, text } from '@berth/domain/shape';
import { PLACEHOLDER_ROLE, placeholderPod, WANTS_ANNOTATION, type PlaceholderSurroundings } from './placeholder-pod.js';

export interface ClusterPlaceholdersOptions {
  readonly api: Pick<ClusterApi, 'ask'>;
  readonly around: PlaceholderSurroundings;
}

export interface SeenPlaceholder extends Placeholder {
  /** The scheduler has given it a node. */
  readonly isScheduled: boolean;
}

interface PodList {
  readonly items: readonly PodSeen[];
}

interface PodSeen {
  readonly metadata: PodMeta;
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

interface PodMeta {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}

/** Above every bound that a setting allows. */
const PODS_MAX = 2_000;
const ANNOTATIONS_MAX = 256;
const ANSWER_WITHIN_MS = 10_000;
/** Of a Pod that its kubelet refused, as it lacked what the scheduler believed it had, that was evicted, or whose program ended. */
const OVER: readonly (string | undefined)[] = ['Failed', 'Succeeded'];
const NOT_FOUND = 404;
const CONFLICT = 409;

const POD_LIST = objectOf<PodList>({
  items: listOf(
    objectOf<PodSeen>({
      metadata: objectOf<PodMeta>({
        name: text(),
        annotations: optional(mapOf(text(2 ** 18), ANNOTATIONS_MAX)),
        deletionTimestamp: optional(text()),
      }),
      spec: objectOf<PodSeen['spec']>({ nodeName: optional(text()) }),
      status: optional(objectOf<NonNullable<PodSeen['status']>>({ phase: optional(text()) })),
    }),
    PODS_MAX,
  ),
});

/** The placeholder Pods of a cluster. Every call may be made twice. */
export class ClusterPlaceholders {
  readonly #options: ClusterPlaceholdersOptions;
  readonly #path: string;

  constructor(options: ClusterPlaceholdersOptions) {
    this.#options = options;
    this.#path = `/api/v1/namespaces/${options.around.namespace}/pods`;
  }

  /** Without those that are going. @throws ClusterError, what the connection throws */
  async list(): Promise<readonly SeenPlaceholder[]> {
    const labelSelector = `${PLACEHOLDER_ROLE.name}=${PLACEHOLDER_ROLE.value}`;
    const query = { labelSelector, limit: PODS_MAX };
    const answer = await this.#options.api.ask(this.#path, { query, timeoutMs: ANSWER_WITHIN_MS });
    const { items } = requireRead(readShape<PodList>(POD_LIST, answer));
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(seenPlaceholder);
  }

  /** @throws ClusterError, what the connection throws */
  async create(wish: PlaceholderWish): Promise<void> {
    const { api, around } = this.#options;
    const body = placeholderPod(wish, around);
    await unless(CONFLICT, () => api.ask(this.#path, { method: 'POST', body, timeoutMs: ANSWER_WITHIN_MS }));
  }

  /** @throws ClusterError, what the connection throws */
  async remove(name: string): Promise<void> {
    const { api } = this.#options;
    await unless(NOT_FOUND, () => api.ask(`${this.#path}/${name}`, { method: 'DELETE', timeoutMs: ANSWER_WITHIN_MS }));
  }
}

const seenPlaceholder = ({ metadata: { annotations = {}, name }, spec, status }: PodSeen): SeenPlaceholder => ({
  ...{ name, wants: annotations[WANTS_ANNOTATION] ?? '' },
  isOver: OVER.includes(status?.phase),
  isScheduled: spec.nodeName !== undefined,
});

async function unless(status: number, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isAnswered(error, status)) throw error;
  }
}
