import type { ClusterApi } from '@berth/cluster-api';
import { cleanText } from '@berth/domain';
import type { EventObject, ObjectList, PodObject } from '../api/kube-objects.js';

export interface WarningsPlace {
  readonly api: Pick<ClusterApi, 'ask'>;
  readonly namespace: string;
  readonly signal?: AbortSignal | undefined;
}

const WARNINGS_MAX = 50;
const WARNING_CHARACTERS_MAX = 500;

/**
 * What a kubelet complained of last about a Pod, such as a volume that it cannot mount: of that the Pod itself says nothing.
 * Null where there is nothing, or where the cluster does not tell: who waits for a Pod does not fail for want of a reason.
 */
export async function newestWarning(
  { metadata }: PodObject,
  { api, namespace, signal }: WarningsPlace,
): Promise<string | null> {
  const query = { fieldSelector: `involvedObject.uid=${metadata.uid},type=Warning`, limit: WARNINGS_MAX };
  const path = `/api/v1/namespaces/${namespace}/events`;
  const told = await api.ask<ObjectList<EventObject>>(path, { query, signal }).catch(() => null);
  const [newest] = [...(told?.items ?? [])].sort((one, other) => toldAtMs(other) - toldAtMs(one));
  if (newest === undefined) return null;
  return cleanText(`${newest.reason ?? 'a warning'}: ${newest.message ?? ''}`, WARNING_CHARACTERS_MAX);
}

/** Which of these an event has depends on who wrote it. */
function toldAtMs({ eventTime, lastTimestamp, metadata, series }: EventObject): number {
  const told = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata?.creationTimestamp;
  return Date.parse(told ?? '') || 0;
}
