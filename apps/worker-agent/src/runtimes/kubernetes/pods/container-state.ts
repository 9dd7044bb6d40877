import type { ContainerStatus, PodObject } from '../api/kube-objects.js';

/** Of the one container of a Pod of ours; empty while its kubelet has said nothing of it. */
export const containerState = ({ status }: PodObject): NonNullable<ContainerStatus['state']> =>
  status?.containerStatuses?.[0]?.state ?? {};
