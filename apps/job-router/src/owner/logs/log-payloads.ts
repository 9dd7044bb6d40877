import type {
  EndpointId,
  HeldPayload,
  JobBody,
  LogFact,
  LogReader,
  LogReference,
  Payload,
  PayloadReference,
} from '@berth/domain';
import { decodeLines, readReferences, type LogBroker } from '@berth/endpoint-log';
import { Semaphore } from '@berth/lifecycle';
import { RecentBatches } from './recent-batches.js';

export interface LogPayloadsOptions {
  readonly broker: LogBroker;
  /** A batch that was to be read has no facts. */
  readonly onUnreadable: (endpointId: EndpointId, sequence: number, error: unknown) => void;
}

/** Bytes of batches that are remembered, as they lie in memory. */
const REMEMBERED_MAX_BYTES = 64 * 1024 * 1024;
/** Reads under way at one time: 8 MB of batches at most, below what the broker buffers for one connection. */
const READS_MAX = 16;

/**
 * Reads bodies and outputs where they lie in the logs. Payloads that have just been committed or read are remembered,
 * since a router that waits for an output asks when it is there.
 */
export class LogPayloads {
  readonly #options: LogPayloadsOptions;
  readonly #recent = new RecentBatches(REMEMBERED_MAX_BYTES);
  readonly #reading = new Map<string, Promise<readonly LogFact[]>>();
  readonly #permits = new Semaphore(READS_MAX);
  /** For the owner: the same, and what is committed by it is remembered here. */
  readonly broker: LogBroker;

  constructor(options: LogPayloadsOptions) {
    this.#options = options;
    this.broker = remembering(options.broker, this.#recent);
  }

  get rememberedBytes(): number {
    return this.#recent.bytes;
  }

  /**
   * `moved`: it has been carried since it was looked for, so the state is to be looked at again.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer
   */
  async body(endpointId: EndpointId, { reference, value }: HeldPayload<JobBody>): Promise<JobBody | 'moved'> {
    if (value !== null) return value;
    return (await this.#find(endpointId, reference, (log, at) => log.body(at))) ?? 'moved';
  }

  /**
   * Null: there is none. `moved`: it has been carried since it was looked for, so the state is to be looked at again.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer
   */
  async output(endpointId: EndpointId, { reference, value }: HeldPayload<Payload>): Promise<Payload | null | 'moved'> {
    if (value !== null || reference === null) return value;
    return (await this.#find(endpointId, reference, (log, at) => log.output(at))) ?? 'moved';
  }

  async #find<Found>(
    endpointId: EndpointId,
    reference: PayloadReference | null,
    find: (log: LogReader, at: LogReference) => Found | undefined,
  ): Promise<Found | undefined> {
    const sequence = reference?.place.sequence ?? null;
    if (reference === null || sequence === null) return undefined;
    const { attempt, jobId, part } = reference;
    const at = { part, jobId, attempt, sequence };
    return find(await readReferences((each) => this.#batch(endpointId, each), [at]), at);
  }

  async #batch(endpointId: EndpointId, sequence: number): Promise<readonly LogFact[]> {
    const known = this.#recent.get(endpointId, sequence);
    if (known !== undefined) return known;
    const name = `${endpointId} ${sequence}`;
    const reading = this.#reading.get(name) ?? this.#permits.run(() => this.#read(endpointId, sequence));
    this.#reading.set(name, reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(name);
    }
  }

  async #read(endpointId: EndpointId, sequence: number): Promise<readonly LogFact[]> {
    const entry = await this.#options.broker.readNext(endpointId, sequence - 1);
    if (entry?.sequence !== sequence || !('facts' in entry)) return [];
    try {
      const facts = decodeLines(entry.facts);
      this.#recent.put(endpointId, sequence, { bytes: entry.facts.byteLength, facts });
      return facts;
    } catch (error) {
      this.#options.onUnreadable(endpointId, sequence, error);
      return [];
    }
  }
}

const remembering = (broker: LogBroker, recent: RecentBatches): LogBroker => ({
  append: async (batch) => {
    const outcome = await broker.append(batch);
    const { endpointId, facts } = batch;
    if (outcome.kind === 'stored') recent.put(endpointId, outcome.sequence, { bytes: facts.byteLength, facts });
    return outcome;
  },
  readNext: (endpointId, after) => broker.readNext(endpointId, after),
  read: (endpointId, after) => broker.read(endpointId, after),
  purge: (endpointId, through) => broker.purge(endpointId, through),
  heads: (shard) => broker.heads(shard),
});
