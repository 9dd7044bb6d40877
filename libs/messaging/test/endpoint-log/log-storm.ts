import type { EndpointId } from '@berth/domain';
import type { StoredBatch } from '@berth/endpoint-log';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { LogWriter, newCounts, type Committed, type StormCounts } from './log-writer.js';

export interface StormOptions {
  /** Each as a process of its own would have it. */
  readonly brokers: readonly Broker[];
  /** Writers that have an endpoint of their own. */
  readonly alone: number;
  /** Endpoints that two write, over different connections. */
  readonly shared: number;
}

export interface StormReport extends StormCounts {
  readonly longestGapMs: number;
}

const SETTLE_WITHIN_MS = 90_000;

/** Many writers, and what they were told. */
export class Storm {
  readonly #counts = newCounts();
  readonly #alone: readonly LogWriter[];
  readonly #shared: readonly (readonly [LogWriter, LogWriter])[];

  constructor({ alone, brokers, shared }: StormOptions) {
    const logs = brokers.map((broker) => new NatsLogBroker({ broker, clock: systemClock }));
    const writer = (endpointId: EndpointId, nth: number): LogWriter => {
      const log = logs[nth % logs.length] as NatsLogBroker;
      return new LogWriter({ name: `${endpointId}-${nth}`, endpointId, log, counts: this.#counts });
    };
    this.#alone = Array.from({ length: alone }, (_, nth) => writer(freshEndpoint(), nth));
    this.#shared = Array.from({ length: shared }, (_, nth) => {
      const endpointId = freshEndpoint();
      return [writer(endpointId, nth), writer(endpointId, nth + 1)] as const;
    });
  }

  get #writers(): readonly LogWriter[] {
    return [...this.#alone, ...this.#shared.flat()];
  }

  get endpoints(): readonly EndpointId[] {
    return this.#alone.map(({ endpointId }) => endpointId);
  }

  /** Resolves when each writer has ended some batches more. */
  async progress(batches: number): Promise<void> {
    const ended = (): number[] => this.#writers.map(({ committed, lostTo }) => committed.length + lostTo.length);
    const before = ended();
    await eventually(() => expect(ended().filter((count, at) => count < (before[at] ?? 0) + batches)).toEqual([]), {
      deadlineMs: SETTLE_WITHIN_MS,
    });
  }

  /** Resolves when something more has been left without an answer. */
  async doubt(): Promise<void> {
    const before = this.#counts.unknown;
    await eventually(() => expect(this.#counts.unknown).toBeGreaterThan(before), { deadlineMs: SETTLE_WITHIN_MS });
  }

  /** @param faults what befalls the brokers meanwhile; when it is over they all stand again */
  async run(faults: () => Promise<void>): Promise<StormReport> {
    const stop = new AbortController();
    const patience = new AbortController();
    const running = Promise.all(this.#writers.map((writer) => writer.run(stop.signal, patience.signal)));
    const isOver = new AbortController();
    try {
      await faults();
    } finally {
      stop.abort();
      void systemClock.sleep(SETTLE_WITHIN_MS, isOver.signal).then(() => patience.abort());
      const settled = await running;
      isOver.abort();
      expect(settled).not.toContain(false);
    }
    const longestGapMs = Math.max(...this.#writers.map((writer) => writer.longestGapMs));
    return { ...this.#counts, longestGapMs };
  }

  /** @param log any that stands */
  async check(log: NatsLogBroker): Promise<void> {
    for (const { committed, endpointId, lostTo } of this.#alone) {
      // Nobody else wrote: who was told otherwise would have given up its endpoint.
      expect(lostTo).toEqual([]);
      await holds(log, endpointId, committed);
    }
    for (const pair of this.#shared) {
      const committed = pair.flatMap((writer) => writer.committed).sort((one, other) => one.sequence - other.sequence);
      await holds(log, pair[0].endpointId, committed);
      for (const { lostTo } of pair) expect(lostTo.filter((entry) => 'unreadable' in entry)).toEqual([]);
    }
  }
}

const freshEndpoint = (): EndpointId => `ep-${systemRandom.id(12)}` as EndpointId;

/** Exactly what was acknowledged, in order, each behind the one before. */
async function holds(log: NatsLogBroker, endpointId: EndpointId, committed: readonly Committed[]): Promise<void> {
  const last = committed.at(-1)?.sequence ?? 0;
  expect(await log.readNext(endpointId, last)).toBeNull();
  await eventually(async () => {
    const entries: StoredBatch[] = [];
    for await (const entry of log.read(endpointId, 0)) entries.push(entry as StoredBatch);
    expect(entries.map(({ batchId, sequence }) => ({ batchId, sequence }))).toEqual(committed);
    expect(entries.map(({ after }) => after)).toEqual([0, ...committed.map(({ sequence }) => sequence)].slice(0, -1));
    const texts = entries.map(({ facts }) => (JSON.parse(Buffer.from(facts).toString()) as { batch: string }).batch);
    expect(texts).toEqual(committed.map(({ batchId }) => batchId));
  });
}
