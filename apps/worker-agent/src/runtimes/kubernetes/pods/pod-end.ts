import { MIB } from '@berth/domain';
import type { ContainerExit } from '../../container-runtime.port.js';
import { signalName } from '../../signal-name.js';
import type { PodObject, PodReport, TerminatedState } from '../api/kube-objects.js';
import { containerState } from './container-state.js';
import { parseQuantity } from '../node/quantities.js';

const SIGKILL_EXIT_CODE = 137;
const SIGNAL_BASE = 128;
const MS_PER_SECOND = 1_000;

/** Ends that a kubelet or a controller brings about for the sake of its node; of `Evicted` those that are no limit's. */
const TAKEN_AWAY: readonly string[] = [
  'Evicted',
  'NodeAffinity',
  'NodeLost',
  'NodeShutdown',
  'Preempting',
  'Shutdown',
  'Terminated',
  'UnexpectedAdmissionError',
];
/** What a kubelet says of a Pod that took more of the disk than it may; of a node that is short of it it says otherwise. */
const OWN_LIMIT =
  /exceeds the (?:total )?(?:local ephemeral storage )?limit|usage exceeds|exceeded its local ephemeral/i;

/** Whether the Pod was asked to go by somebody else than its agent, told by who knows what that has asked. */
export interface EndView {
  readonly isGone: boolean;
  readonly isOwnDoing: boolean;
}

/** Its kubelet, or a controller, has said that it runs no more and never will. */
export const isFinal = (phase: string | undefined): boolean => phase === 'Failed' || phase === 'Succeeded';

/** How a Pod ended whose container is not, or no more, running. */
export function exitOf(pod: PodObject, view: EndView): ContainerExit {
  const { status = {} } = pod;
  const { terminated } = containerState(pod);
  const code = terminated?.exitCode ?? null;
  if (isOverDisk(status)) return { code, cause: 'killed', detail: `over its disk limit: ${status.message ?? ''}` };
  const away = view.isOwnDoing ? null : takenAway(pod, view, terminated);
  if (away !== null) return { code, cause: 'evicted', detail: `taken away by the cluster: ${away}` };
  return terminated === undefined || code === null ? unseenEnd(status) : ownEnd(code, terminated, limitOf(pod));
}

function unseenEnd({ message, reason }: PodReport): ContainerExit {
  return { code: null, cause: 'unknown', detail: words(reason, message) || 'ended while nobody watched' };
}

function ownEnd(code: number, { message, reason }: TerminatedState, limit: string): ContainerExit {
  const suffix = message === undefined || message === '' ? '' : `: ${message}`;
  if (reason === 'OOMKilled') {
    const killed = code === SIGKILL_EXIT_CODE ? 'killed, ' : '';
    return { code, cause: 'out-of-memory', detail: `${killed}out of memory: its limit is ${limit}` };
  }
  if (code === SIGKILL_EXIT_CODE) return { code, cause: 'killed', detail: `killed${suffix}` };
  if (code > SIGNAL_BASE) {
    return { code, cause: 'killed', detail: `ended by ${signalName(code - SIGNAL_BASE)}${suffix}` };
  }
  return { code, cause: 'exited', detail: `exited with code ${String(code)}${suffix}` };
}

const limitOf = ({ spec }: PodObject): string =>
  `${String(Math.round(parseQuantity(spec?.containers?.[0]?.resources?.limits?.['memory']) / MIB))} MiB`;

const isOverDisk = ({ message = '', reason }: PodReport): boolean => reason === 'Evicted' && OWN_LIMIT.test(message);

const takenAway = (pod: PodObject, view: EndView, terminated: TerminatedState | undefined): string | null =>
  disruptionOf(pod.status ?? {}) ?? deletionOf(pod, terminated) ?? absenceOf(pod, view, terminated);

/** One that ends by itself stays until somebody deletes it: gone without an end that was told, somebody has, unseen. */
function absenceOf({ status }: PodObject, { isGone }: EndView, terminated: TerminatedState | undefined): string | null {
  const isEndTold = terminated !== undefined || isFinal(status?.phase);
  return isGone && !isEndTold ? 'its Pod is gone' : null;
}

/** What the cluster says of why it took the Pod away; null where it does not. */
function disruptionOf({ conditions = [], message, phase, reason = '' }: PodReport): string | null {
  const disruption = conditions.find(({ status, type }) => type === 'DisruptionTarget' && status === 'True');
  if (disruption !== undefined) return words(disruption.reason, disruption.message);
  return phase === 'Failed' && TAKEN_AWAY.includes(reason) ? words(reason, message) : null;
}

/** Null of a Pod that was not deleted, or whose program had ended before. */
function deletionOf({ metadata }: PodObject, terminated: TerminatedState | undefined): string | null {
  const { deletionGracePeriodSeconds: graceSeconds = 0, deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return null;
  const askedAtMs = Date.parse(deletionTimestamp) - graceSeconds * MS_PER_SECOND;
  const endedAtMs = Date.parse(terminated?.finishedAt ?? '');
  // The API counts in whole seconds.
  return endedAtMs < askedAtMs - MS_PER_SECOND ? null : 'its Pod was deleted';
}

const words = (reason: string | undefined, message: string | undefined): string =>
  [reason, message].filter(Boolean).join(': ');
