import {
  ENDPOINT_BOUNDS_DEFAULT,
  encodeJson,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobId,
  type LogFact,
  type WorkerId,
} from '@berth/domain';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { ModelLogBroker } from '@berth/testing/log-simulator';
import { describe, expect, test } from '@jest/globals';
import {
  LogCheck,
  decodeLines,
  openEndpoint,
  type CheckedEntry,
  type LogEntry,
  type OpenLog,
  type StoredBatch,
} from '../src/index.js';

const ENDPOINT = 'ep' as EndpointId;
const NOW_MS = 1_800_000_000_000;
const NEVER = new AbortController().signal;

/** A log as its owner writes it. */
class Scene {
  readonly clock = new ManualClock(NOW_MS);
  readonly broker = new ModelLogBroker();

  async open(routerId = 'router'): Promise<OpenLog> {
    const opening = await openEndpoint(
      {
        ...{ endpointId: ENDPOINT, broker: this.broker, clock: this.clock, random: new SeededRandom(1) },
        ...{ routerId, atEndOfTurn: (run) => process.nextTick(run), mayDecide: () => true },
        ...{ onTouched: () => undefined, onCommitted: () => undefined },
      },
      NEVER,
    );
    if (opening.kind !== 'open') throw new Error(opening.kind);
    return opening.log;
  }

  async perform(log: OpenLog, command: EndpointCommand): Promise<void> {
    log.perform(command, () => undefined);
    await letRun();
  }

  submit(...jobIds: readonly string[]): EndpointCommand {
    const wish = (jobId: string) => ({
      ...({ jobId: jobId as JobId, origin: 'run', retentionMs: 60_000, executionTimeoutMs: 600_000 } as const),
      ...{ isLowPriority: false, webhook: null, bodyBytes: 2, ttlMs: 3_600_000 },
      body: { input: { kind: 'inline', json: encodeJson({}) }, extras: encodeJson({}), ...SEALED } as const,
    });
    const bounds = ENDPOINT_BOUNDS_DEFAULT;
    return { kind: 'submit', sentAtMs: this.clock.nowMs(), jobs: jobIds.map(wish), key: null, takers: [], bounds };
  }

  take(): EndpointCommand {
    const wish = { takeId: 't', hostId: 'h' as HostId, workerId: 'w' as WorkerId, slots: 1, secret: 's' };
    return { kind: 'take', sentAtMs: this.clock.nowMs(), wishes: [wish] };
  }

  /** Two jobs wait, one of them is taken, then the queue is purged: five batches. */
  async story(): Promise<LogEntry[]> {
    const log = await this.open();
    await this.perform(log, this.submit('j1'));
    await this.perform(log, this.submit('j2'));
    await this.perform(log, this.take());
    await this.perform(log, { kind: 'purge', sentAtMs: this.clock.nowMs(), purgeId: 'p' });
    return [...this.broker.view(ENDPOINT)];
  }
}

const SEALED = { sealedExtras: null, traceparent: null };

function check(entries: readonly LogEntry[]): { readonly check: LogCheck; readonly checked: CheckedEntry[] } {
  const done = new LogCheck();
  return { check: done, checked: entries.map((entry) => done.add(entry)) };
}

const findingsOf = (entries: readonly LogEntry[]): LogCheck['findings'] => [...check(entries).check.conclude()];

const withFacts = (entry: LogEntry | undefined, ...lines: readonly (string | object)[]): StoredBatch => ({
  ...(entry as StoredBatch),
  facts: new TextEncoder().encode(
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  ),
});

const replaced = (entries: readonly LogEntry[], at: number, entry: LogEntry): LogEntry[] =>
  entries.toSpliced(at, 1, entry);
const factsOf = (entry: LogEntry | undefined): readonly LogFact[] => decodeLines((entry as StoredBatch).facts);

test('a log that its owner wrote is whole, and adds up to what its owner knows', async () => {
  const entries = await new Scene().story();
  const { check: done, checked } = check(entries);
  expect(done.conclude()).toEqual([]);
  expect(done.sum()).toMatchObject({
    ...{ batches: 5, facts: 5, first: 1, last: 5 },
    state: {
      ...{ isComplete: true, term: 1, isDeleted: false, livingBytes: 2, keys: 0, deliveries: 0, covers: 0 },
      jobs: { IN_QUEUE: 0, IN_PROGRESS: 1, COMPLETED: 0 },
    },
  });
  expect(checked.map(({ writer }) => writer)).toEqual(Array(5).fill({ routerId: 'router', term: 1 }));
});

test('a rule names the jobs that it touched, and nobody else does', async () => {
  const { checked } = check(await new Scene().story());
  expect(checked.map(({ lines }) => lines.map(({ fact, touched }) => [fact?.kind, ...touched]))).toEqual([
    [['opened']],
    [['submitted', 'j1']],
    [['submitted', 'j2']],
    [['taken', 'j1']],
    [['purged', 'j2']],
  ]);
});

test('the writer is whoever opened the log last, and unknown before that', async () => {
  const scene = new Scene();
  await scene.story();
  await scene.open('next');
  const entries = scene.broker.view(ENDPOINT);
  expect(check(entries).checked.at(-1)?.writer).toEqual({ routerId: 'next', term: 2 });
  expect(check(entries.slice(1)).checked[0]?.writer).toEqual({ routerId: null, term: null });
});

test('what is dead is about what carrying would free', async () => {
  const scene = new Scene();
  const log = await scene.open();
  await scene.perform(log, scene.submit('living'));
  const alive = check(scene.broker.view(ENDPOINT)).check.sum();
  expect(alive.state?.deadBytes).toBeLessThan(200);
  await scene.perform(log, scene.submit(...Array.from({ length: 50 }, (_, nth) => `dead-${nth}`)));
  await scene.perform(log, scene.take());
  await scene.perform(log, { kind: 'purge', sentAtMs: scene.clock.nowMs(), purgeId: 'p' });
  const sum = check(scene.broker.view(ENDPOINT)).check.sum();
  expect(sum.state?.deadBytes).toBeGreaterThan(0.9 * (sum.bytes - alive.bytes));
});

describe('what is not as it must be is named', () => {
  test('a message that is no batch', async () => {
    const scene = new Scene();
    await scene.story();
    scene.broker.putGarbage(ENDPOINT);
    const { check: done } = check(scene.broker.view(ENDPOINT));
    expect(done.conclude()).toEqual([{ kind: 'unreadable', sequence: 6, line: null, reason: 'no batch' }]);
    expect(done.sum()).toMatchObject({ last: 6, batches: 5, state: { isComplete: false, deadBytes: null } });
  });

  test('a line that is no fact, with none of its text, beside lines that are', async () => {
    const entries = await new Scene().story();
    const [purge] = factsOf(entries[4]);
    const harmed = withFacts(entries[4], purge as LogFact, '{"kind":"submitted","secret":"sss', '');
    const { check: done, checked } = check(replaced(entries, 4, harmed));
    expect(done.conclude()).toEqual([
      { kind: 'unreadable', sequence: 5, line: 2, reason: 'it is no fact' },
      { kind: 'unreadable', sequence: 5, line: 3, reason: 'it is no fact' },
    ]);
    expect(checked[4]?.lines.map(({ bytes, fact }) => [fact?.kind, bytes])).toEqual([
      ['purged', JSON.stringify(purge).length],
      [undefined, 33],
      [undefined, 0],
    ]);
    expect(() => decodeLines(harmed.facts)).toThrow(/^line 2 is no fact$/);
  });

  test('bytes that are no text', async () => {
    const entries = await new Scene().story();
    const harmed = { ...(entries[4] as StoredBatch), facts: new Uint8Array([0x7b, 0xff, 0x7d]) };
    expect(findingsOf(replaced(entries, 4, harmed))).toEqual([
      { kind: 'unreadable', sequence: 5, line: 1, reason: 'it is no fact' },
    ]);
  });

  test('the first fact that is illegal, with its line, and no fact behind it', async () => {
    const entries = await new Scene().story();
    const [purge] = factsOf(entries[4]);
    const again = { kind: 'taken', atMs: NOW_MS, jobId: 'j1', taking: {} };
    const doctored = replaced(entries, 3, withFacts(entries[3], factsOf(entries[3])[0] as LogFact, again, again));
    expect(findingsOf(replaced(doctored, 4, withFacts(entries[4], purge as LogFact, again)))).toEqual([
      { kind: 'illegal', sequence: 4, line: 2, fact: 'taken', why: 'not-in-this-state' },
    ]);
  });

  test('a fact that lacks what belongs to it', async () => {
    const entries = await new Scene().story();
    expect(findingsOf(replaced(entries, 1, withFacts(entries[1], { kind: 'submitted', atMs: NOW_MS })))).toEqual([
      { kind: 'unreadable', sequence: 2, line: 1, reason: 'it is not as owners write facts' },
    ]);
  });

  test('a batch of which the one before is missing, once', async () => {
    const entries = await new Scene().story();
    const { check: done } = check(entries.toSpliced(2, 1));
    expect(done.conclude()).toEqual([{ kind: 'unchained', sequence: 4, after: 3, before: 2 }]);
    expect([done.gaps, done.sum().state?.isComplete]).toEqual([1, false]);
  });

  test('a beginning that is gone and was not carried', async () => {
    const { check: done } = check((await new Scene().story()).slice(1));
    expect(done.conclude()).toEqual([{ kind: 'beginning-gone', sequence: 2 }]);
    expect(done.gaps).toBe(1);
  });

  test.each([
    ['living', { living: 3 }, { told: 3, found: 1 }],
    ['oldestQueuedAtMs', { oldestQueuedAtMs: null }, { told: null, found: NOW_MS }],
    ['dueAtMs', { dueAtMs: NOW_MS + 1 }, { told: NOW_MS + 1, found: NOW_MS + 3_600_000 }],
    ['dueAtMs', { dueAtMs: null }, { told: null, found: NOW_MS + 3_600_000 }],
  ])('an index that says something else: %s %j', async (member, change, difference) => {
    const entries = await new Scene().story();
    const batch = entries[1] as StoredBatch;
    expect(findingsOf(replaced(entries, 1, { ...batch, index: { ...batch.index, ...change } }))).toEqual([
      { kind: 'other-index', sequence: 2, member, ...difference },
    ]);
  });

  test('but not a due time that renewed leases have put off, up to the end of the first life', async () => {
    const entries = await new Scene().story();
    const taken = entries[3] as StoredBatch;
    const dueAt = (dueAtMs: number): LogEntry[] =>
      replaced(entries, 3, { ...taken, index: { ...taken.index, dueAtMs } });
    expect(taken.index.dueAtMs).toBe(NOW_MS + 30_000);
    expect(findingsOf(dueAt(NOW_MS + 55_000))).toEqual([]);
    expect(findingsOf(dueAt(NOW_MS + 3_600_001))).toHaveLength(1);
  });
});

test('of many faults the first are kept, and all are counted', async () => {
  const garbage = Array.from({ length: 300 }, (_, at) => ({ sequence: at + 1, unreadable: 'no batch' }));
  const { check: done } = check(garbage);
  expect([done.found, done.conclude().length, done.last?.sequence]).toEqual([300, 100, 300]);
  expect(done.sum()).toMatchObject({ batches: 0, facts: 0, bytes: 0, state: null });
});
