import { createHash } from 'node:crypto';
import type { Clock } from '@berth/lifecycle';
import type { ImageRequest, PrepareOptions } from '../../container-runtime.port.js';
import { isImageName } from '../../images/image-name.js';
import { SharedWork, type SharedCourse } from '../../images/shared-work.js';
import { RuntimeError, throwIfCancelled } from '../../runtime-error.js';
import { askApi, askApiUnless, fromClusterError } from '../api/cluster-errors.js';
import type { ObjectList, PodObject } from '../api/kube-objects.js';
import { containerState } from '../pods/container-state.js';
import { awaitPod } from '../pods/await-pod.js';
import type { KnownPods } from '../pods/known-pods.js';
import { podFailure } from '../pods/pod-failure.js';
import { ROLE_LABEL, hostSelector } from '../pods/pod-labels.js';
import type { BaseSurroundings } from '../pods/pod-spec.js';
import { imagePod } from './image-pod.js';
import { IMAGE_ROLE, imageMetadata, withPullSecret, type ImagePlace } from './pull-secret.js';

export interface NodeImagesOptions extends ImagePlace {
  readonly pods: KnownPods;
  readonly around: ImagePlace['around'] & BaseSurroundings;
  /** @throws RuntimeError `no-room` where nothing may be started on the node as it is, `runtime-unavailable` */
  readonly assertOpen: () => Promise<void>;
  readonly clock: Clock;
}

/** So long a registry's word counts for the account that it was given to. */
const PREPARED_MS = 10 * 60_000;
const PREPARED_MAX = 1_000;
const PULL_MAX_MS = 60 * 60_000;
/** Of a Pod that nobody has removed by then. */
const POD_MAX_S = 61 * 60;
const NAME_SHOWN = 100;
/** Too long to be guessed. */
const PROGRAM_LENGTH = 24;
/** What a kubelet says when it has the image and cannot start that. */
const PULLED: readonly string[] = ['CreateContainerError', 'RunContainerError'];

/** The images of the node, which its kubelet pulls: for a Pod that needs one and does nothing with it. */
export class NodeImages {
  readonly #options: NodeImagesOptions;
  readonly #pulls = new SharedWork();
  /** By request, until when it counts. Whose credentials they were is part of it. */
  readonly #prepared = new Map<string, { readonly image: string; readonly untilMs: number }>();

  constructor(options: NodeImagesOptions) {
    this.#options = options;
  }

  get prepared(): readonly string[] {
    return [...new Set([...this.#prepared.values()].map(({ image }) => image))];
  }

  /**
   * @throws RuntimeError `image-missing`, `image-denied`, `image-unreachable`, `disk-full`, `no-room`, `runtime-unavailable`, `cancelled`
   */
  async ensure(request: ImageRequest, { onHeldUp, onProgress, signal }: PrepareOptions): Promise<void> {
    throwIfCancelled(signal);
    const { clock } = this.#options;
    if (!isImageName(request.image)) {
      throw new RuntimeError('image-missing', `"${request.image.slice(0, NAME_SHOWN)}" is no name of an image.`);
    }
    const key = keyOf(request);
    if ((this.#prepared.get(key)?.untilMs ?? 0) > clock.monotonicMs()) return;
    await this.#options.assertOpen();
    onProgress?.(`the node pulls ${request.image}`);
    const begin = (pulling: SharedCourse): Promise<void> => this.#pull(request, pulling);
    try {
      await this.#pulls.run(key, begin, { signal, onHeldUp, onPercent: undefined });
    } catch (error) {
      throwIfCancelled(signal);
      throw error;
    }
    this.#note(key, request.image);
  }

  /** What an earlier life of the agent left when it was killed. */
  async sweep(): Promise<void> {
    const labelSelector = `${hostSelector(this.#options.hostId)},${ROLE_LABEL}=${IMAGE_ROLE}`;
    for (const kind of ['pods', 'secrets']) {
      const found = await askApi(`The ${kind} cannot be listed`, () =>
        this.#options.api.ask<ObjectList<PodObject>>(this.#path(kind), { query: { labelSelector } }),
      );
      for (const { metadata } of found.items ?? []) await this.#delete(kind, metadata.name);
    }
  }

  async #pull(request: ImageRequest, pulling: SharedCourse): Promise<void> {
    const { signal } = pulling;
    try {
      await withPullSecret(request, { ...this.#options, signal }, (name) => this.#pullWith(name, request, pulling));
    } catch (error) {
      throwIfCancelled(signal);
      throw fromClusterError(error, `Image ${request.image} could not be asked for`);
    }
  }

  async #pullWith(secretName: string | null, request: ImageRequest, { onHeldUp, signal }: SharedCourse): Promise<void> {
    const { api, around, clock, pods, random } = this.#options;
    const { namespace } = around;
    const metadata = imageMetadata(this.#options);
    const program = `/.berth-${random.id(PROGRAM_LENGTH)}`;
    const body = imagePod(request, { around, metadata, program, secretName, deadlineS: POD_MAX_S });
    const look = (): ImageEnd | null => endOf(pods, metadata.name, request.image);
    try {
      pods.putNew(await api.ask<PodObject>(this.#path('pods'), { method: 'POST', body, signal }));
      const wait = { api, clock, namespace, pods, name: metadata.name, deadlineMs: PULL_MAX_MS, onHeldUp, signal };
      const end = await awaitPod(look, wait);
      throwIfCancelled(signal);
      if (end instanceof RuntimeError) throw end;
      if (end === null) throw new RuntimeError('image-unreachable', `Image ${request.image} did not come in an hour.`);
      if (end.failure !== null) throw end.failure;
    } finally {
      await this.#delete('pods', metadata.name).catch(() => undefined);
    }
  }

  async #delete(kind: string, name: string): Promise<void> {
    const path = `${this.#path(kind)}/${name}`;
    // Of an image's Pod nothing ever ran, so nothing has to be waited for.
    const question = { method: 'DELETE', query: { gracePeriodSeconds: 0 } } as const;
    await askApiUnless([404], `${name} cannot be removed`, () => this.#options.api.ask(path, question));
  }

  #path(kind: string): string {
    return `/api/v1/namespaces/${this.#options.around.namespace}/${kind}`;
  }

  #note(key: string, image: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#prepared.delete(key);
    this.#prepared.set(key, { image, untilMs: nowMs + PREPARED_MS });
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > PREPARED_MAX && oldest !== undefined) this.#prepared.delete(oldest);
  }
}

/** Credentials are secret, also in memory. */
const keyOf = ({ accountId, credentials, digest, image }: ImageRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([accountId ?? null, credentials, digest ?? null, image]))
    .digest('hex');

interface ImageEnd {
  /** Null: the image is there. */
  readonly failure: RuntimeError | null;
}

function endOf(pods: KnownPods, name: string, image: string): ImageEnd | null {
  const known = pods.find(name);
  // As with a node that goes: nothing is wrong with the image.
  if (known === undefined) return { failure: new RuntimeError('no-room', 'The cluster took the pull away.') };
  const { terminated, waiting } = containerState(known.pod);
  if (terminated !== undefined || PULLED.includes(waiting?.reason ?? '')) return { failure: null };
  const failure = podFailure(known.pod, image);
  return failure === null ? null : { failure };
}
