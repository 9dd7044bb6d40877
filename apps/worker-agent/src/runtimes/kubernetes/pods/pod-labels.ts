import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { digestIn } from '../../images/image-name.js';
import type { ContainerLabels } from '../../container-runtime.port.js';
import type { PodObject } from '../api/kube-objects.js';

/** By these the API finds Pods; all else is an annotation, because it may be no label's value. */
export const POD_HOST_LABEL = 'berth.host';
export const ROLE_LABEL = 'berth.role';
const WORKER_LABEL = 'berth.worker';
const ENDPOINT_LABEL = 'berth.endpoint';

const RELEASE = 'berth.release';
const IMAGE = 'berth.image';
const DIGEST = 'berth.image-digest';
/** Which of the GPUs that its host reports it holds; the agent's next life leaves them to it. */
const GPUS = 'berth.gpus';
/** The disk limit that was asked for, in bytes. */
const DISK = 'berth.disk-bytes';

/**
 * `image`: one that only makes its node pull an image. `placeholder`: not an agent's but the controllers', for a worker that has
 * no host with room.
 */
export type PodRole = 'worker' | 'image' | 'placeholder';

export const hostSelector = (hostId: HostId): string => `${POD_HOST_LABEL}=${hostId}`;

export const workerLabels = ({ endpointId, hostId, workerId }: ContainerLabels): Record<string, string> => ({
  [POD_HOST_LABEL]: hostId,
  [ROLE_LABEL]: 'worker' satisfies PodRole,
  [WORKER_LABEL]: workerId,
  [ENDPOINT_LABEL]: endpointId,
});

export const workerAnnotations = (
  { image, imageDigest, release }: ContainerLabels,
  { diskBytes, gpus }: { readonly gpus: readonly string[]; readonly diskBytes: number | null },
): Record<string, string> => ({
  [RELEASE]: String(release),
  [IMAGE]: image,
  [GPUS]: gpus.join(','),
  ...(imageDigest === undefined ? {} : { [DIGEST]: imageDigest }),
  ...(diskBytes === null ? {} : { [DISK]: String(diskBytes) }),
});

/** Null for a Pod that is no worker. */
export function labelsOf(pod: PodObject): ContainerLabels | null {
  const { annotations = {}, labels = {} } = pod.metadata;
  const { [POD_HOST_LABEL]: hostId, [WORKER_LABEL]: workerId, [ENDPOINT_LABEL]: endpointId } = labels;
  if (hostId === undefined || workerId === undefined || endpointId === undefined) return null;
  const imageDigest = annotations[DIGEST] ?? digestIn(imageIdOf(pod));
  return {
    hostId: hostId as HostId,
    workerId: workerId as WorkerId,
    endpointId: endpointId as EndpointId,
    release: Number(annotations[RELEASE]),
    image: annotations[IMAGE] ?? '',
    ...(imageDigest === null ? {} : { imageDigest }),
  };
}

const imageIdOf = ({ status }: PodObject): string => status?.containerStatuses?.[0]?.imageID ?? '';

export const podGpuNames = ({ metadata }: PodObject): readonly string[] =>
  (metadata.annotations?.[GPUS] ?? '').split(',').filter(Boolean);

/** Null where none was asked for. */
export function diskBytesOf({ metadata }: PodObject): number | null {
  const bytes = metadata.annotations?.[DISK];
  return bytes === undefined ? null : Number(bytes);
}

/** What the Pod of a worker is called, over all its lives. */
export const podName = (workerId: WorkerId): string => `berth-${workerId}`;

/** It says of itself that it is a worker, under a name that its agent gives no Pod of that worker: somebody else has made it. */
export function isCopy(pod: PodObject): boolean {
  const workerId = pod.metadata.labels?.[WORKER_LABEL];
  return roleOf(pod) === 'worker' && workerId !== undefined && pod.metadata.name !== podName(workerId as WorkerId);
}

export const roleOf = ({ metadata }: PodObject): string | undefined => metadata.labels?.[ROLE_LABEL];
