/** An image that the control plane wants ready on this host, and what has become of it. Instants are monotonic ms. */
export interface AheadImage {
  readonly key: string;
  readonly failures: number;
  /** Of its last try; null before the first. */
  readonly triedAtMs: number | null;
  readonly isReady: boolean;
}

export interface AheadView {
  /** In the order in which they were named. */
  readonly images: readonly AheadImage[];
  /** The one that is prepared now; null: none is. */
  readonly runningKey: string | null;
  /** A worker of this host waits for its image. */
  readonly isWorkerPulling: boolean;
}

export type AheadStep =
  | { readonly kind: 'begin'; readonly key: string }
  /** A worker needs the line, or nobody wants this image any more. It is no failure. */
  | { readonly kind: 'give-up' }
  | { readonly kind: 'wait' };

/** After so many failures in a row an image is not tried again for its release. */
export const AHEAD_TRIES_MAX = 3;

/** Before the second try, and the third. */
const RETRY_AFTER_MS = [5_000, 30_000] as const;

/** One that is ready is looked after, so that it is not the one that was used longest ago. */
const LOOK_AFTER_MS = 5 * 60_000;

/** The next step with the images that are prepared ahead: one at a time, and none while a worker waits for its own. */
export function planAhead({ images, isWorkerPulling, runningKey }: AheadView, nowMs: number): AheadStep {
  if (runningKey !== null) {
    const isWanted = images.some(({ key }) => key === runningKey);
    return isWorkerPulling || !isWanted ? { kind: 'give-up' } : { kind: 'wait' };
  }
  const due = images.filter((image) => isDue(image, nowMs));
  // What is ready costs the line nothing, but comes after what is not.
  const next = due.find(({ isReady }) => !isReady) ?? due[0];
  return isWorkerPulling || next === undefined ? { kind: 'wait' } : { kind: 'begin', key: next.key };
}

export const hasGivenUp = ({ failures }: Pick<AheadImage, 'failures'>): boolean => failures >= AHEAD_TRIES_MAX;

function isDue(image: AheadImage, nowMs: number): boolean {
  if (image.triedAtMs === null) return true;
  if (hasGivenUp(image)) return false;
  const afterMs = image.failures === 0 ? LOOK_AFTER_MS : (RETRY_AFTER_MS[image.failures - 1] ?? LOOK_AFTER_MS);
  return nowMs - image.triedAtMs >= afterMs;
}
