import type { Clock, Random } from '@berth/lifecycle';
import {
  CLAIMS_STREAM,
  COPIED_LOGS,
  COPIED_PAYLOADS,
  jobStreamConfig,
  NatsShardClaims,
  readStreamHead,
  removeLatePayloads,
  restoreStream,
  type Broker,
  type TopologySize,
} from '@berth/messaging';
import { CommandError, misuse } from '../program/index.js';
import type { BackupEnd, BackupHead, CopiedStream } from './backup-format.js';

type BrokerSize = Pick<TopologySize, 'replicas' | 'storageBytes'>;

/** The clocks of the machine that made the backup and of its broker may differ by so much. */
const CLOCKS_APART_MS = 3_600_000;
/** So may those of two brokers: what `berth doctor` calls well. */
const BROKERS_APART_MS = 5_000;
const SHOWN_MAX = 5;

/** @throws CommandError where the broker holds streams of jobs, though they be empty: processes have run */
export async function requireEmptyBroker(broker: Broker): Promise<void> {
  const there: string[] = [];
  for (const stream of [...COPIED_LOGS, ...COPIED_PAYLOADS, CLAIMS_STREAM]) {
    if ((await readStreamHead(broker, stream)) !== null) there.push(stream);
  }
  if (there.length > 0) throw inUse(there);
}

const inUse = (streams: readonly string[]): CommandError =>
  misuse(
    `The broker is not empty: it has ${streams.slice(0, SHOWN_MAX).join(', ')}${streams.length > SHOWN_MAX ? ', …' : ''}.`,
    'A backup is restored before the first start: give the brokers empty folders, also where a restore was cut off.',
  );

interface BrokerRestoreOptions {
  readonly size: BrokerSize;
  readonly backup: { readonly head: BackupHead; readonly end: BackupEnd };
  readonly clock: Clock;
  readonly random: Random;
}

/** The broker's part of a restore. What it has made it can take away again. */
export class BrokerRestore {
  readonly #broker: Broker;
  readonly #options: BrokerRestoreOptions;
  readonly #made: string[] = [];

  constructor(broker: Broker, options: BrokerRestoreOptions) {
    this.#broker = broker;
    this.#options = options;
  }

  /** @throws CommandError where somebody has made a stream of that name meanwhile */
  async fill({ name, state }: CopiedStream, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const { clock, random, size } = this.#options;
    const config = jobStreamConfig(name, size);
    // From here on it may be there.
    this.#made.push(name);
    const outcome = await restoreStream({ broker: this.#broker, clock, random, config, state, pieces });
    if (outcome === 'restored') return;
    this.#made.pop();
    throw inUse([name]);
  }

  /**
   * Shards are free, under the terms that they had; what no log knows of goes.
   *
   * @returns when each stream of logs was made, by its name
   */
  async complete(): Promise<ReadonlyMap<string, string>> {
    const { end, head } = this.#options.backup;
    const created = new Map<string, string>();
    for (const { name } of end.streams.filter((each) => COPIED_LOGS.includes(each.name))) {
      const found = await readStreamHead(this.#broker, name);
      if (found !== null) created.set(name, found.created);
    }
    await removeLatePayloads(this.#broker, {
      atMs: Math.max(0, head.startedAtMs - CLOCKS_APART_MS),
      clocksApartMs: BROKERS_APART_MS,
    });
    await this.#keepTerms(end.terms);
    return created;
  }

  /** An owner's term must be above all that its logs have seen, and it begins above that of the claim. */
  async #keepTerms(terms: BackupEnd['terms']): Promise<void> {
    this.#made.push(CLAIMS_STREAM);
    await this.#broker.manager.streams.add(jobStreamConfig(CLAIMS_STREAM, this.#options.size));
    const claims = new NatsShardClaims(this.#broker);
    for (const [shard, term] of Object.entries(terms)) {
      const { kind } = await claims.claim(Number(shard), { owner: null, term }, 0);
      if (kind !== 'written') throw new CommandError(`The claim of shard ${shard} was not written (${kind}).`, MEND);
    }
  }

  /**
   * Takes away what was made here.
   *
   * @returns the streams that are there still
   */
  async takeBack(): Promise<readonly string[]> {
    const left: string[] = [];
    for (const stream of this.#made) {
      try {
        if ((await readStreamHead(this.#broker, stream)) !== null) await this.#broker.manager.streams.delete(stream);
      } catch {
        // Told with all others that are left; what went wrong first is what is told as the reason.
        left.push(stream);
      }
    }
    return left;
  }
}

const MEND = { mend: 'Are the brokers well? Restore again.' };
