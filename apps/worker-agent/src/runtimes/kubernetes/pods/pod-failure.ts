import { RuntimeError, type RuntimeErrorReason } from '../../runtime-error.js';
import { pullReasonIn } from '../../images/pull-reason.js';
import type { PodObject, PodReport, TerminatedState } from '../api/kube-objects.js';
import { containerState } from './container-state.js';

/** What a kubelet says while it waits for something that will not come by itself. */
const WAITS: Readonly<Record<string, RuntimeErrorReason>> = {
  CreateContainerConfigError: 'start-failed',
  CreateContainerError: 'start-failed',
  ErrImageNeverPull: 'image-missing',
  InvalidImageName: 'image-missing',
  PostStartHookError: 'start-failed',
  RunContainerError: 'start-failed',
};
const PULL_WAITS: readonly string[] = ['ErrImagePull', 'ImageInspectError', 'ImagePullBackOff', 'RegistryUnavailable'];
const NOT_STARTED: readonly string[] = ['ContainerCannotRun', 'StartError'];

/** What a kubelet refuses a Pod for. */
const REFUSALS: Readonly<Record<string, RuntimeErrorReason>> = {
  OutOfcpu: 'no-room',
  'OutOfephemeral-storage': 'disk-full',
  OutOfmemory: 'out-of-memory',
  OutOfpods: 'no-room',
};
const DEVICES = /nvidia\.com|amd\.com|device/i;

/** Why a Pod's program has not been started and will not be; null while it may be yet, and where it was. */
export function podFailure(pod: PodObject, image: string): RuntimeError | null {
  const { running, terminated, waiting } = containerState(pod);
  if (running !== undefined) return null;
  if (terminated !== undefined) return startErrorIn(terminated);
  if (pod.status?.phase === 'Failed') return refusalIn(pod.status);
  return waiting === undefined ? null : waitIn(waiting, image);
}

function startErrorIn({ message = '', reason = '' }: TerminatedState): RuntimeError | null {
  if (!NOT_STARTED.includes(reason)) return null;
  return new RuntimeError('start-failed', `Its program could not be started: ${message}`);
}

function waitIn(
  { message = '', reason = '' }: { readonly reason?: string; readonly message?: string },
  image: string,
): RuntimeError | null {
  if (PULL_WAITS.includes(reason)) {
    return new RuntimeError(pullReasonIn(message), `Image ${image} could not be pulled: ${message}`);
  }
  const known = WAITS[reason];
  return known === undefined ? null : new RuntimeError(known, `${reason}: ${message}`);
}

function refusalIn({ message = '', reason = '' }: PodReport): RuntimeError {
  return new RuntimeError(refusalReason(reason, message), `The node refuses it (${reason}): ${message}`);
}

function refusalReason(reason: string, message: string): RuntimeErrorReason {
  const known = REFUSALS[reason];
  if (known !== undefined) return known;
  if (DEVICES.test(reason) || (reason === 'UnexpectedAdmissionError' && DEVICES.test(message))) return 'no-such-device';
  // The rest is about the node and not about what was asked of it: it shuts down, is short of something, is another one.
  return 'runtime-unavailable';
}
