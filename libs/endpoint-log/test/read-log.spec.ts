import { encodeJson, type EndpointId, type LogFact } from '@berth/domain';
import { ModelLogBroker } from '@berth/testing/log-simulator';
import { describe, expect, test } from '@jest/globals';
import { readLog, type LogBroker, type LogEntry } from '../src/index.js';

const ENDPOINT = 'ep' as EndpointId;
const AT_MS = 1_800_000_000_000;
const NOTHING_DUE = {
  ...{ dueAtMs: null, waitingNormal: 0, waitingLow: 0, oldestQueuedAtMs: null, running: 0, runningLow: 0, living: 0 },
};
const UNANSWERED = { code: 'service-unavailable' };
const READINGS_MAX = 8;

const opened = (term: number): LogFact => ({ kind: 'opened', atMs: AT_MS, term, routerId: 'router' });

const totals = (covers: number, term: number): LogFact => ({
  ...{ kind: 'totals', atMs: AT_MS, covers },
  counters: { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 },
  life: { term, nextOrdinal: 1, lastPurge: null, pace: [] },
});

/** A log as its leader has it, and what replicas show of it. */
class Replicas {
  readonly leader = new ModelLogBroker();
  readings = 0;
  /** What another leader says before this one does, answer by answer. */
  readonly saidByAnother: (LogEntry | null)[] = [];
  readonly #shown: readonly number[];

  /** @param shown sequences that each reading shows */
  constructor(...shown: readonly number[]) {
    this.#shown = shown;
  }

  append(...facts: readonly LogFact[]): void {
    this.appendAfter(this.leader.lastSequence(ENDPOINT), ...facts);
  }

  appendAfter(after: number, ...facts: readonly LogFact[]): void {
    const lines = facts.map((fact) => encodeJson(fact)).join('\n');
    const [batchId, bytes] = [`batch-${after}`, new TextEncoder().encode(lines)];
    this.leader.store({ endpointId: ENDPOINT, after, batchId, index: NOTHING_DUE, facts: bytes });
  }

  read(): ReturnType<typeof readLog> {
    const { leader, saidByAnother } = this;
    const broker: LogBroker = Object.assign(Object.create(leader) as LogBroker, {
      read: () => this.#read(),
      readNext: async (endpointId: EndpointId, after: number) =>
        saidByAnother.length > 0 ? saidByAnother.shift() : await leader.readNext(endpointId, after),
    });
    const clock = {
      nowMs: () => AT_MS,
      monotonicMs: () => 0,
      sleep: () => Promise.resolve(),
      after: () => () => undefined,
      every: () => () => undefined,
    };
    return readLog({ endpointId: ENDPOINT, broker, clock, atEndOfTurn: (run) => run() });
  }

  async *#read(): AsyncGenerator<LogEntry> {
    this.readings += 1;
    yield* this.leader.history(ENDPOINT).filter(({ sequence }) => this.#shown.includes(sequence));
  }
}

describe('a log of which each reading lacks the beginning and what was carried of it', () => {
  const lacking = (): Replicas => {
    const replicas = new Replicas(2);
    replicas.append(opened(1));
    replicas.append(opened(2));
    return replicas;
  };

  test('is not broken while its leader has more of it: nobody knows what it comes to', async () => {
    const replicas = lacking();
    replicas.append(totals(1, 2));
    await replicas.leader.purge(ENDPOINT, 1);
    await expect(replicas.read()).rejects.toMatchObject(UNANSWERED);
    expect(replicas.readings).toBe(READINGS_MAX);
  });

  test('is not broken where one of two leaders had more of it: while they change an old one may answer', async () => {
    const replicas = lacking();
    await replicas.leader.purge(ENDPOINT, 1);
    const [, last] = replicas.leader.history(ENDPOINT);
    replicas.saidByAnother.push(last ?? null, { sequence: 3, unreadable: 'by then it was there' });
    await expect(replicas.read()).rejects.toMatchObject(UNANSWERED);
  });

  test('is broken when its leader has no more either, each time', async () => {
    const replicas = lacking();
    await replicas.leader.purge(ENDPOINT, 1);
    expect(await replicas.read()).toEqual({
      ...{ kind: 'broken', sequence: 2, reason: 'its beginning is gone, and was not carried' },
    });
    expect(replicas.readings).toBe(READINGS_MAX);
  });
});

describe('a log of which each reading lacks a batch in the middle', () => {
  test('is not broken while its leader has that batch', async () => {
    const replicas = new Replicas(1, 3);
    for (const term of [1, 2, 3]) replicas.append(opened(term));
    await expect(replicas.read()).rejects.toMatchObject(UNANSWERED);
  });

  test('is not broken when all before it is gone at its leader, which was purged since', async () => {
    const replicas = new Replicas(1, 3);
    for (const term of [1, 2]) replicas.append(opened(term));
    replicas.append(totals(2, 2));
    await replicas.leader.purge(ENDPOINT, 2);
    await expect(replicas.read()).rejects.toMatchObject(UNANSWERED);
  });

  test('is broken when its leader lacks it too, each time', async () => {
    const replicas = new Replicas(1, 3);
    replicas.append(opened(1));
    replicas.leader.comparesNothing = true;
    replicas.leader.skipSequences(1);
    replicas.appendAfter(2, opened(2));
    expect(await replicas.read()).toEqual({
      ...{ kind: 'broken', sequence: 3, reason: 'the batch before it is not in the log' },
    });
    expect(replicas.readings).toBe(READINGS_MAX);
  });
});

describe('why a log is broken', () => {
  const SECRET = 'what-a-tenant-wrote';

  test.each<[string, readonly object[], string]>([
    [
      'by a fact of no kind',
      [
        { kind: 'endpoint-deleted', atMs: AT_MS, term: 1 },
        { kind: SECRET, atMs: AT_MS },
      ],
      'a fact of a kind that nobody knows is illegal: not-in-this-state',
    ],
    [
      'by a fact that lacks members',
      [{ kind: 'submitted', atMs: AT_MS, [SECRET]: 1 }],
      'it cannot be applied: TypeError',
    ],
    ['by a line that is no fact', [{ kind: 5, [SECRET]: SECRET }], 'it cannot be applied: line 1 is no fact'],
  ])('is told without a word of what is in it: %s', async (_, facts, reason) => {
    const log = new Replicas(1);
    log.append(...(facts as readonly LogFact[]));
    const reading = await log.read();
    expect(reading).toMatchObject({ kind: 'broken', reason });
    expect(JSON.stringify(reading)).not.toContain(SECRET);
  });
});
