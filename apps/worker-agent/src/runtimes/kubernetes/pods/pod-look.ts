import {
  VOLUME_PATH,
  VOLUME_SIZE_NOTE,
  type OwnedContainer,
  type OwnedContainerState,
} from '../../container-runtime.port.js';
import type { PodObject } from '../api/kube-objects.js';
import { containerState } from './container-state.js';
import { exitOf, isFinal, type EndView } from './pod-end.js';
import { diskBytesOf, isCopy, labelsOf, roleOf } from './pod-labels.js';

const GB = 1e9;

/** What a Pod means for its host; null where it is no worker's, or a copy of one's. */
export function podContainer(pod: PodObject, view: EndView): OwnedContainer | null {
  const labels = roleOf(pod) === 'worker' && !isCopy(pod) ? labelsOf(pod) : null;
  if (labels === null) return null;
  const state = stateOf(pod, view);
  const address = pod.status?.podIP;
  const isTakenAway = state.kind === 'running' && pod.metadata.deletionTimestamp !== undefined && !view.isOwnDoing;
  return {
    ...{ containerId: pod.metadata.uid, labels, state, startedAtMs: startedAtMs(pod) },
    ...(address === undefined || state.kind !== 'running' ? {} : { address }),
    ...(isTakenAway ? { isTakenAway } : {}),
    notes: notesOn(pod),
  };
}

function stateOf(pod: PodObject, view: EndView): OwnedContainerState {
  const { running, terminated } = containerState(pod);
  const isOver = view.isGone || terminated !== undefined || (running === undefined && isFinal(pod.status?.phase));
  if (isOver) return { kind: 'ended', exit: exitOf(pod, view) };
  return { kind: running === undefined ? 'created' : 'running' };
}

function startedAtMs(pod: PodObject): number | null {
  const { running, terminated } = containerState(pod);
  const atMs = Date.parse(running?.startedAt ?? terminated?.startedAt ?? '');
  // Of what never ran the API says the beginning of all time.
  return atMs > 0 ? atMs : null;
}

function notesOn(pod: PodObject): readonly string[] {
  const diskBytes = diskBytesOf(pod);
  const mounts = pod.spec?.containers?.[0]?.volumeMounts ?? [];
  return [
    ...(mounts.some(({ mountPath }) => mountPath === VOLUME_PATH) ? [VOLUME_SIZE_NOTE] : []),
    ...(diskBytes === null ? [] : [diskNote(diskBytes)]),
  ];
}

const diskNote = (bytes: number): string =>
  `The disk limit of ${String(Math.round(bytes / GB))} GB is kept late: the kubelet looks now and then, and ends who is over it.`;
