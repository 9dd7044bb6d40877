import { shortName } from '../../images/image-name.js';
import { recordKey, type ImageRecord } from './image-record.js';

/** An image as the engine has it. */
export interface StoredImage {
  readonly id: string;
  readonly bytes: number;
  /** Its names, with tags and with digests. */
  readonly names: readonly string[];
  /** A container was made of it, whether it runs or not. */
  readonly isUsed: boolean;
}

export interface EvictionView {
  readonly images: readonly StoredImage[];
  readonly records: readonly ImageRecord[];
  /** What images that this agent has pulled may take together. */
  readonly budgetBytes: number;
}

/** Prepared and not started yet. */
const JUST_USED_MS = 10 * 60_000;

/**
 * The images that go so that those that this agent has pulled fit the budget: the one that was used longest ago first.
 * What a container is made of stays, and what somebody else brought here.
 */
export function chooseEvictions({ budgetBytes, images, records }: EvictionView, nowMs: number): readonly StoredImage[] {
  const usedAtMs = new Map(records.map((record) => [recordKey(record), record.lastUsedAtMs]));
  const pulled = images.flatMap((image) => {
    const instants = image.names.flatMap((name) => usedAtMs.get(shortName(name)) ?? []);
    return instants.length === 0 ? [] : [{ image, lastUsedAtMs: Math.max(...instants) }];
  });
  let excess = pulled.reduce((sum, { image }) => sum + image.bytes, 0) - budgetBytes;
  const leaving: StoredImage[] = [];
  for (const { image, lastUsedAtMs } of pulled.toSorted((a, b) => a.lastUsedAtMs - b.lastUsedAtMs)) {
    if (excess <= 0) break;
    if (image.isUsed || nowMs - lastUsedAtMs < JUST_USED_MS) continue;
    leaving.push(image);
    excess -= image.bytes;
  }
  return leaving;
}
