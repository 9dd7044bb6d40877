import type { HostId } from '@berth/domain';
import type { SeededRandom } from '../clock/seeded-random.js';

const HOUR_MS = 3_600_000;
/** Shorter than anybody notices, too long to place on the host, too long to count on it, and out for repair. */
const LENGTHS_MS = [8_000, 20_000, 120_000, 1_800_000];

interface Silence {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Hosts that fall silent about once in six hours each and come back, all drawn before. */
export class HostSilences {
  readonly #silences: ReadonlyMap<HostId, readonly Silence[]>;

  constructor(hosts: readonly HostId[], untilMs: number, random: SeededRandom) {
    this.#silences = new Map(hosts.map((id) => [id, drawSilences(untilMs, random)]));
  }

  get hostIds(): Iterable<HostId> {
    return this.#silences.keys();
  }

  /** Since when the host has been silent; null while it is heard. */
  silentSinceMs(hostId: HostId, nowMs: number): number | null {
    const silence = this.#silences.get(hostId)?.find(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs);
    return silence?.fromMs ?? null;
  }
}

function drawSilences(untilMs: number, random: SeededRandom): readonly Silence[] {
  const silences: Silence[] = [];
  for (let fromMs = random.integer(0, 6 * HOUR_MS); fromMs < untilMs; fromMs += random.integer(HOUR_MS, 11 * HOUR_MS)) {
    silences.push({ fromMs, untilMs: fromMs + random.pick(LENGTHS_MS) });
  }
  return silences;
}
