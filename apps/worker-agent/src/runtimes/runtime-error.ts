import { cleanText } from '@berth/domain';

/** Why a runtime could not do what was asked. The word stands in the worker's reason and in metrics. */
export type RuntimeErrorReason =
  | 'cancelled'
  | 'disk-full'
  | 'freeze-failed'
  | 'image-denied'
  | 'image-missing'
  | 'image-unreachable'
  | 'no-room'
  | 'no-such-device'
  | 'out-of-memory'
  | 'runtime-unavailable'
  | 'setup-failed'
  | 'start-failed'
  | 'volume-unavailable';

/** Whether the very same call may succeed later, although nobody changed what is wanted. */
const IS_TEMPORARY: Readonly<Record<RuntimeErrorReason, boolean>> = {
  cancelled: true,
  'disk-full': true,
  'freeze-failed': true,
  'image-denied': false,
  'image-missing': false,
  'image-unreachable': true,
  'no-room': true,
  'no-such-device': false,
  'out-of-memory': true,
  'runtime-unavailable': true,
  'setup-failed': false,
  'start-failed': false,
  'volume-unavailable': true,
};

/** An engine or a registry may say more; its first words tell what is wrong. */
const DETAIL_CHARACTERS_MAX = 1_000;

/** `message` is for people and may be shown to the endpoint's owner: clean text, whatever an engine or a registry wrote. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly reason: RuntimeErrorReason;

  constructor(reason: RuntimeErrorReason, detail: string, options: { readonly cause?: unknown } = {}) {
    super(cleanText(detail, DETAIL_CHARACTERS_MAX), options);
    this.reason = reason;
  }

  get isTemporary(): boolean {
    return IS_TEMPORARY[this.reason];
  }
}

/** Throws when the caller has given up. Called between the steps of a verb. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new RuntimeError('cancelled', 'The agent gave up on this step.');
}
