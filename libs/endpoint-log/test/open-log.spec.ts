import {
  ENDPOINT_BOUNDS_DEFAULT,
  encodeJson,
  viewHealth,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobId,
  type JobWish,
  type TouchedJob,
  type WorkerId,
} from '@berth/domain';
import { letRun, ManualClock, SeededRandom } from '@berth/testing';
import { HeldLogBroker } from '@berth/testing/log-simulator';
import { describe, expect, test } from '@jest/globals';
import { openEndpoint, readLog, type OpenLog, type SettledAnswer } from '../src/index.js';

const ENDPOINT = 'ep' as EndpointId;
const NEVER = new AbortController().signal;

/** One endpoint in the hands of an owner whose broker the test holds. */
class Scene {
  readonly clock = new ManualClock(1_800_000_000_000);
  readonly broker = new HeldLogBroker();
  readonly touched: TouchedJob[] = [];
  readonly told: string[] = [];
  mayDecide = true;
  #count = 0;

  open(): ReturnType<typeof openEndpoint> {
    return openEndpoint(
      {
        ...{ endpointId: ENDPOINT, broker: this.broker, clock: this.clock, random: new SeededRandom(1) },
        routerId: 'router',
        atEndOfTurn: (run) => process.nextTick(run),
        mayDecide: () => this.mayDecide,
        onTouched: (touched) => this.touched.push(...touched),
        onCommitted: () => undefined,
      },
      NEVER,
    );
  }

  /** From here on appends arrive when they are let. */
  async opened(): Promise<OpenLog> {
    const opening = await this.open();
    if (opening.kind !== 'open') throw new Error(opening.kind);
    this.broker.isHolding = true;
    this.broker.sent.length = 0;
    return opening.log;
  }

  wish(bytes = 2): JobWish {
    this.#count += 1;
    return {
      ...{ jobId: `job-${this.#count}` as JobId, origin: 'run', retentionMs: 60_000, executionTimeoutMs: 600_000 },
      ...{ isLowPriority: false, webhook: null, bodyBytes: bytes, ttlMs: 3_600_000 },
      body: {
        ...{ input: { kind: 'inline', json: encodeJson('i'.repeat(bytes)) }, extras: encodeJson({}) },
        ...{ sealedExtras: null, traceparent: null },
      },
    };
  }

  submit(...jobs: readonly JobWish[]): EndpointCommand {
    const bounds = ENDPOINT_BOUNDS_DEFAULT;
    return { kind: 'submit', sentAtMs: this.clock.nowMs(), jobs, key: null, takers: [], bounds };
  }

  take(): EndpointCommand {
    const wish = { takeId: 't', hostId: 'h' as HostId, workerId: 'w' as WorkerId, slots: 9, secret: 's' };
    return { kind: 'take', sentAtMs: this.clock.nowMs(), wishes: [wish] };
  }

  cancel(jobId: string): EndpointCommand {
    return { kind: 'cancel', sentAtMs: this.clock.nowMs(), jobId: jobId as JobId };
  }

  /** Notes what is told. */
  readonly note =
    (name: string) =>
    (outcome: SettledAnswer<unknown>): void => {
      const answer = outcome.kind === 'settled' ? (outcome.answer as Partial<CommandOutcome> | null) : null;
      this.told.push(`${name} ${answer?.kind ?? outcome.kind}`);
    };
}

describe('what is decided', () => {
  test('is told when its batch is committed: replies, refusals, reads and what was touched, in their order', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    const wish = scene.wish();
    log.perform(scene.submit(wish), scene.note('submit'));
    log.perform(scene.cancel('nobody'), scene.note('cancel'));
    log.read(viewHealth, scene.note('health'));
    await letRun();
    expect([scene.told, scene.touched]).toEqual([[], []]);
    await scene.broker.release();
    expect(scene.told).toEqual(['submit accepted', 'cancel refused', 'health settled']);
    expect(scene.touched).toMatchObject([{ jobId: wish.jobId, now: 'moved' }]);
  });

  test('while an append is under way travels together in the next one', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    log.perform(scene.submit(scene.wish()), scene.note('first'));
    await letRun();
    for (const name of ['second', 'third']) log.perform(scene.submit(scene.wish()), scene.note(name));
    await scene.broker.release();
    expect(scene.told).toEqual(['first accepted']);
    await scene.broker.release();
    expect(scene.told).toEqual(['first accepted', 'second accepted', 'third accepted']);
    expect(scene.broker.sent).toHaveLength(2);
    expect(log.isQuiet).toBe(true);
  });

  test('in answer to what was told is committed with the next batch', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    const wish = scene.wish();
    log.perform(scene.submit(wish), () => {
      log.perform(scene.cancel(wish.jobId), scene.note('cancel'));
      log.read(viewHealth, scene.note('health'));
    });
    await letRun();
    await scene.broker.release();
    expect(scene.told).toEqual([]);
    await scene.broker.release();
    expect(scene.told).toEqual(['cancel job', 'health settled']);
  });

  test('in more than one batch is told when the last one is committed', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    log.perform(scene.submit(scene.wish(300_000), scene.wish(300_000)), scene.note('submit'));
    await letRun();
    await scene.broker.release();
    expect(scene.told).toEqual([]);
    await scene.broker.release();
    expect(scene.told).toEqual(['submit accepted']);
  });

  test('in more than one batch is unsettled where the last one is lost, and each says what it leaves behind', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    const jobs = [scene.wish(300_000), scene.wish(300_000)];
    log.perform(scene.submit(...jobs), scene.note('submit'));
    await letRun();
    await scene.broker.release();
    await scene.broker.release({ kind: 'full' });
    expect(scene.told).toEqual(['submit unsettled']);
    expect(await log.ended).toEqual({ kind: 'full' });
    expect(scene.broker.sent[0]?.index).toMatchObject({ living: 1, waitingNormal: 1 });
    scene.broker.isHolding = false;
    const again = await scene.open();
    if (again.kind !== 'open') throw new Error(again.kind);
    again.log.perform(scene.submit(...jobs), scene.note('again'));
    await letRun();
    again.log.read(({ jobs: { size } }) => scene.told.push(`${size} jobs`), scene.note('read'));
    expect(scene.told).toContain('again accepted');
    expect(scene.told).toContain('2 jobs');
  });
});

describe('nothing is told of what is not known', () => {
  test('to whoever waits when the log is let go of, and nothing is sent after that', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    log.perform(scene.submit(scene.wish()), scene.note('under way'));
    await letRun();
    log.perform(scene.submit(scene.wish()), scene.note('gathered'));
    log.letGo();
    log.perform(scene.submit(scene.wish()), scene.note('late'));
    expect(scene.told).toEqual(['under way unsettled', 'gathered unsettled', 'late unsettled']);
    await scene.broker.release();
    expect(scene.told).toHaveLength(3);
    expect(scene.broker.sent).toHaveLength(1);
    expect(await log.ended).toEqual({ kind: 'given-up' });
  });

  test('to whoever waits when another owner was faster', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    log.perform(scene.submit(scene.wish()), scene.note('submit'));
    await letRun();
    const { after, ...batch } = scene.broker.sent[0] ?? { after: -1 };
    scene.broker.model.store({ ...batch, after, batchId: 'faster' } as never);
    await scene.broker.release();
    expect(scene.told).toEqual(['submit unsettled']);
    expect(await log.ended).toMatchObject({ kind: 'lost-to' });
  });

  test('by whoever is not certain to own it, who decides nothing', async () => {
    const scene = new Scene();
    const log = await scene.opened();
    scene.mayDecide = false;
    log.perform(scene.submit(scene.wish()), scene.note('submit'));
    log.read(viewHealth, scene.note('health'));
    await letRun();
    expect(scene.told).toEqual(['submit unsettled', 'health unsettled']);
    expect(scene.broker.sent).toEqual([]);
    expect(await scene.open()).toEqual({ kind: 'unsettled' });
  });
});

test('too much that waits is refused as busy, and told what it was when there is room again', async () => {
  const scene = new Scene();
  const log = await scene.opened();
  log.perform(scene.submit(scene.wish()), scene.note('submit'));
  for (let nth = 1; nth < 4_096; nth += 1) log.read(viewHealth, () => undefined);
  log.read(viewHealth, scene.note('one more'));
  expect(scene.told).toEqual(['one more busy']);
  await letRun();
  await scene.broker.release();
  log.read(viewHealth, scene.note('again'));
  expect(scene.told).toEqual(['one more busy', 'submit accepted', 'again settled']);
});

test('facts of eight megabytes that wait are the most', async () => {
  const scene = new Scene();
  const log = await scene.opened();
  log.perform(scene.submit(...Array.from({ length: 18 }, () => scene.wish(480_000))), scene.note('large'));
  log.perform(scene.submit(scene.wish()), scene.note('one more'));
  expect(scene.told).toEqual(['one more busy']);
  await letRun();
  for (let nth = 0; nth < 18; nth += 1) await scene.broker.release();
  log.perform(scene.submit(scene.wish()), scene.note('again'));
  await letRun();
  await scene.broker.release();
  expect(scene.told).toEqual(['one more busy', 'large accepted', 'again accepted']);
});

describe('a new owner', () => {
  test('whose first batch took its time gives every running attempt a full lease from then on', async () => {
    const scene = new Scene();
    scene.broker.isHolding = true;
    const before = await openWith(scene);
    before.perform(scene.submit(scene.wish()), scene.note('submit'));
    await letRun();
    await scene.broker.release();
    before.perform(scene.take(), scene.note('take'));
    await letRun();
    await scene.broker.release();
    before.letGo();
    const opening = scene.open();
    await letRun();
    await scene.clock.advance(29_000);
    await scene.broker.release();
    const opened = await opening;
    if (opened.kind !== 'open') throw new Error(opened.kind);
    await scene.clock.advance(29_999);
    const look = { kind: 'look', fraction: 0.5 } as const;
    opened.log.perform(look, scene.note('look'));
    await letRun();
    await scene.broker.release();
    opened.log.read(({ running }) => scene.told.push(`${running.size} running`), scene.note('read'));
    expect(scene.told).toEqual(['submit accepted', 'take takes', 'look looked', '1 running', 'read settled']);
  });

  test('of a log whose carried part is not in view yet reads it again, after a pause', async () => {
    const scene = new Scene();
    const clock = {
      ...scene.clock,
      nowMs: () => scene.clock.nowMs(),
      monotonicMs: () => 0,
      sleep: async () => undefined,
    };
    const log = await scene.opened();
    scene.broker.isHolding = false;
    log.perform(scene.submit(scene.wish()), scene.note('submit'));
    await letRun();
    const [opened, submitted] = scene.broker.model.history(ENDPOINT);
    let readings = 0;
    const broker = Object.assign(Object.create(scene.broker) as HeldLogBroker, {
      async *read() {
        readings += 1;
        if (readings > 1) yield* [opened, submitted].filter((entry) => entry !== undefined);
        else if (submitted !== undefined) yield submitted;
      },
    });
    const source = { endpointId: ENDPOINT, broker, clock: clock as never, atEndOfTurn: (run: () => void) => run() };
    expect(await readLog(source)).toMatchObject({ kind: 'read', last: submitted?.sequence });
    expect(readings).toBe(2);
  });
});

async function openWith(scene: Scene): Promise<OpenLog> {
  const opening = scene.open();
  await letRun();
  await scene.broker.release();
  const opened = await opening;
  if (opened.kind !== 'open') throw new Error(opened.kind);
  return opened.log;
}
