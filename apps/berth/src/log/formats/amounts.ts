import { KIB, MIB, INSTANT_MAX_MS } from '@berth/domain';

export function bytesText(bytes: number): string {
  if (bytes < KIB) return `${bytes} B`;
  return bytes < MIB ? `${(bytes / KIB).toFixed(1)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}

/** @param noun of one */
export const countText = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

/** From the largest one down; ms per unit. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** In the largest unit of which there are two or more, or a whole number. */
export function durationText(ms: number): string {
  const unit = UNITS.find(([, unitMs]) => Math.abs(ms) >= 2 * unitMs || (ms !== 0 && ms % unitMs === 0));
  if (unit === undefined) return `${ms} ms`;
  const [name, unitMs] = unit;
  return `${Number((ms / unitMs).toFixed(1))} ${name}`;
}

/** ISO 8601, UTC. The number as it is where it is no instant: a log may say anything. */
export const instantText = (ms: number): string =>
  Math.abs(ms) <= INSTANT_MAX_MS ? new Date(ms).toISOString() : String(ms);
