import type { WebhookSecretsSnapshot } from '@berth/contracts';
import { webhookSecretContext } from '@berth/contracts';
import {
  CLAIM_MS,
  PlatformError,
  TRY_INTERVAL_MS,
  encodeJson,
  type AccountId,
  type Delivery,
  type EndpointId,
  type HostId,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import {
  cancel,
  finishAttempt,
  giveUpAttempt,
  retry,
  submitJob,
  takeTicket,
  ticketOf,
  timeOut,
  type JobStore,
} from '@berth/jobs';
import { ConfigReader } from '@berth/lifecycle';
import { readSecretBox } from '@berth/secrets';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { BrokerModel, ManualClock, SeededRandom, letRun, modelStore, openGate } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { showRecords } from '../../test/model/show-records.js';
import { JobView } from '../job-view/job-view.service.js';
import { DeliveryAttempt } from './delivery-attempt.js';
import { DeliveryLog } from './delivery-log.service.js';
import { DeliveryMaker, UNTOLD_GRACE_MS } from './delivery-maker.js';
import { DeliverySender } from './delivery-sender.js';
import { webhookMetrics } from './metrics.js';
import type { PendingDelivery } from './pending-deliveries.port.js';
import { WebhookSigner } from './webhook-signer.js';
import type { Receipt, WebhookRequest } from './webhook-transport.js';

const EP = 'ep' as EndpointId;
const URL_TEXT = 'https://hooks.example/end';
const KEY = { endpointId: EP, jobId: 'job' as JobId };
const ATTEMPT = { ...KEY, attempt: 1 };

const delivered: Receipt = { kind: 'delivered', isSuccess: true, statusCode: 200, error: null };
const refused: Receipt = { kind: 'refused', isSuccess: false, statusCode: 500, error: 'answered 500' };

let clock: ManualClock;
let broker: BrokerModel;
let store: JobStore;
let view: JobView;
let metrics: MetricRegistry;
let sent: WebhookRequest[];
let receive: (request: WebhookRequest) => Promise<Receipt>;
let secrets: WebhookSecretsSnapshot | null;
let forgotten: number;

const box = readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') }));
const sealed = (id: string, expiresAtMs: number | null = null) => ({
  id,
  sealed: box.seal(`whsec_${Buffer.from(`secret of ${id}`).toString('base64')}`, webhookSecretContext(EP, id)),
  expiresAtMs,
});

beforeEach(() => {
  clock = new ManualClock();
  broker = new BrokerModel(() => clock.nowMs());
  const stopSignals = { send: () => undefined };
  store = { ...modelStore(broker, openGate), stopSignals, clock, random: new SeededRandom(3) };
  view = new JobView();
  metrics = new MetricRegistry();
  sent = [];
  receive = async () => delivered;
  secrets = { endpointId: EP, secrets: [sealed('ep.1')] };
  forgotten = 0;
});

const attempt = (over: Partial<JobStore> = {}): DeliveryAttempt =>
  new DeliveryAttempt({
    store: { ...store, ...over },
    statusBody: async ({ id, state }) => encodeJson({ id, status: state }),
    signer: new WebhookSigner({
      snapshots: { get: () => undefined, fetch: async () => secrets },
      secrets: box,
      clock,
    }),
    transport: {
      post: (request) => {
        sent.push(request);
        return receive(request);
      },
    },
  });

/** What the watch would tell. */
const pendingOf = ({
  endpointId,
  jobId,
  attempt: number,
  nextAtMs,
  claim,
  createdAtMs,
}: Delivery): PendingDelivery => ({
  endpointId,
  jobId,
  attempt: number,
  dueAtMs: Math.max(nextAtMs, claim?.untilMs ?? 0),
  createdAtMs,
  host: 'hooks.example',
  sizeBytes: 10,
});

const pending = {
  pending: () =>
    broker.deliveries
      .all()
      .filter(({ outcome }) => outcome === null)
      .map(pendingOf),
  get size() {
    return 1;
  },
  forget: () => {
    forgotten += 1;
  },
  onSeen: () => undefined,
};

const senderWith = (work: Pick<DeliveryAttempt, 'run'> = attempt()): DeliverySender =>
  new DeliverySender({
    pending,
    attempt: work,
    clock,
    random: store.random,
    metrics: webhookMetrics(metrics),
    logger: silentLogger,
  });

const stored = (): Delivery | undefined => broker.deliveries.read(ATTEMPT)?.delivery;

const submit = async (webhook: string | null = URL_TEXT): Promise<void> => {
  const job = await submitJob(store, KEY.jobId, {
    endpointId: EP,
    accountId: 'account' as AccountId,
    origin: 'run',
    input: encodeJson({ a: 1 }),
    extras: encodeJson({ note: 1 }),
    sealedExtras: null,
    reservation: null,
    webhook,
    executionTimeoutMs: 60_000,
    ttlMs: 3_600_000,
    retentionMs: 60_000,
    isLowPriority: false,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  await takeTicket(store, ticketOf(job), { hostId: 'host' as HostId, workerId: 'w' as WorkerId });
};

const token = (): string => broker.readRecord(KEY)?.job.current?.token ?? '';

const complete = (): Promise<unknown> =>
  finishAttempt(store, { ...KEY, token: token() }, { kind: 'completed', output: null, chunks: 0 });

const look = (): void => {
  showRecords(broker, view);
};

describe('every end of a job with a webhook makes its delivery', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['COMPLETED', complete],
    [
      'FAILED',
      () => finishAttempt(store, { ...KEY, token: token() }, { kind: 'failed', error: 'e', output: null, chunks: 0 }),
    ],
    [
      'TIMED_OUT',
      async () => {
        await clock.advance(80_000);
        await timeOut(store, KEY);
      },
    ],
    ['CANCELLED', () => cancel(store, KEY)],
  ])('%s', async (state, end) => {
    await submit();
    expect(stored()).toBeUndefined();
    await end();
    expect(stored()).toMatchObject({
      url: URL_TEXT,
      tries: [],
      outcome: null,
      job: { state, extras: '{}', history: [] },
    });
  });

  test('FAILED because the last attempt was lost', async () => {
    await submit();
    for (let lost = 1; lost <= 3; lost += 1) {
      await giveUpAttempt(store, { ...KEY, attempt: lost, reason: 'lost', isCharged: true });
      await clock.advance(60_000);
      const job = broker.readRecord(KEY)?.job;
      if (job?.state === 'IN_QUEUE')
        await takeTicket(store, ticketOf(job), { hostId: 'h' as HostId, workerId: 'w' as WorkerId });
    }
    expect(broker.deliveries.read({ ...KEY, attempt: 3 })?.delivery.job?.state).toBe('FAILED');
  });

  test('and none where there is no webhook', async () => {
    await submit(null);
    await complete();
    expect(stored()).toBeUndefined();
  });

  test('a store that takes none keeps no job from ending', async () => {
    await submit();
    const create = () => Promise.reject(new PlatformError('service-unavailable', 'full'));
    const full = { ...store, deliveries: { ...store.deliveries, create } };
    expect(await finishAttempt(full, { ...KEY, token: token() }, { kind: 'completed', output: null, chunks: 0 })).toBe(
      'recorded',
    );
    expect(stored()).toBeUndefined();
  });
});

describe('a retry', () => {
  const failWithOutput = async (): Promise<void> => {
    const manifest = await store.blobs.write(KEY, { name: 'out', bytes: Buffer.from('{"partial":1}') }, 3_600_000);
    const output = { kind: 'blob', manifest } as const;
    await finishAttempt(store, { ...KEY, token: token() }, { kind: 'failed', error: 'e', output, chunks: 0 });
  };

  test('leaves the output of an end of which somebody is still to be told, and its own end is told under its own id', async () => {
    await submit();
    await failWithOutput();
    await retry(store, KEY);
    expect(await store.blobs.readPart(KEY, 'out', 0)).not.toBeNull();
    await cancel(store, KEY);
    const sender = senderWith();
    sender.sendDue();
    await letRun();
    await sender.settled();
    const told = sent.map(({ headers, body }) => [
      headers['webhook-id'],
      (JSON.parse(body.toString()) as { status: string }).status,
    ]);
    expect(told).toEqual([
      ['msg_job_1', 'FAILED'],
      ['msg_job_2', 'CANCELLED'],
    ]);
    expect(JSON.parse(await new DeliveryLog(store).read(KEY)).deliveries).toHaveLength(2);
  });

  test('removes the output once that end was told', async () => {
    await submit();
    await failWithOutput();
    senderWith().sendDue();
    await letRun();
    await retry(store, KEY);
    expect(await store.blobs.readPart(KEY, 'out', 0)).toBeNull();
  });
});

describe('the maker', () => {
  const maker = (): DeliveryMaker =>
    new DeliveryMaker({ store, view, metrics: webhookMetrics(metrics), logger: silentLogger });
  /** As if the router had died between the two writes. */
  const endUntold = async (): Promise<void> => {
    await submit();
    const lost = {
      ...store.deliveries,
      create: () => Promise.reject(new PlatformError('service-unavailable', 'died')),
    };
    await finishAttempt(
      { ...store, deliveries: lost },
      { ...KEY, token: token() },
      { kind: 'completed', output: null, chunks: 0 },
    );
    look();
  };

  test('makes what is missing some seconds after the end, once', async () => {
    await endUntold();
    await maker().run();
    expect(stored()).toBeUndefined();
    await clock.advance(UNTOLD_GRACE_MS);
    await maker().run();
    const made = stored();
    expect(made?.outcome).toBeNull();
    expect([...view.untold()]).toEqual([]);
    await maker().run();
    expect(stored()).toBe(made);
  });

  test('leaves what is there, delivered or not', async () => {
    await submit();
    await complete();
    look();
    senderWith().sendDue();
    await letRun();
    const over = stored();
    expect(over?.outcome).toBe('delivered');
    await clock.advance(UNTOLD_GRACE_MS);
    await maker().run();
    expect(stored()).toBe(over);
  });

  test('makes nothing an hour later: a record that old may have gone after it was delivered', async () => {
    await endUntold();
    const record = broker.readRecord(KEY);
    await store.records.replace(
      { ...record!.job, retentionMs: 9e7, expiresAtMs: clock.nowMs() + 9e7 },
      record!.sequence,
      9e7,
    );
    await clock.advance(3_600_000);
    await maker().run();
    expect(stored()).toBeUndefined();
    expect([...view.untold()]).toEqual([]);
  });
});

describe('the sender', () => {
  const round = async (sender: DeliverySender): Promise<void> => {
    sender.sendDue();
    await letRun();
    await sender.settled();
  };

  beforeEach(async () => {
    await submit();
    await complete();
  });

  test('tells the receiver once: signed, with its own id, in the trace of the submit', async () => {
    const sender = senderWith();
    await round(sender);
    await round(sender);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body.toString()).toBe(`{"id":"job","status":"COMPLETED","input":{"a":1},"webhook":"${URL_TEXT}"}`);
    expect(sent[0]?.headers).toEqual({
      'webhook-id': 'msg_job_1',
      'webhook-timestamp': `${Math.floor(clock.nowMs() / 1000)}`,
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      'content-type': 'application/json',
      'content-length': `${sent[0]?.body.byteLength}`,
      'user-agent': 'Berth-Webhooks/1.0',
      traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/),
    });
    expect(stored()).toMatchObject({ outcome: 'delivered', job: null, tries: [{ statusCode: 200, error: null }] });
    expect(await metrics.text()).toContain('router_webhook_tries_total{outcome="delivered"} 1');
  });

  test('tries three times, ten seconds apart, under one id; then it has failed', async () => {
    receive = async () => refused;
    const sender = senderWith();
    const atMs: number[] = [];
    for (let second = 0; second < 60; second += 1) {
      const before = sent.length;
      await round(sender);
      if (sent.length > before) atMs.push(clock.nowMs());
      await clock.advance(500);
    }
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(['msg_job_1']));
    for (const [from, to] of [
      [0, 1],
      [1, 2],
    ] as const) {
      const apartMs = (atMs[to] ?? 0) - (atMs[from] ?? 0);
      expect(apartMs).toBeGreaterThanOrEqual(TRY_INTERVAL_MS);
      expect(apartMs).toBeLessThanOrEqual(TRY_INTERVAL_MS + 1_000);
    }
    expect(stored()).toMatchObject({ outcome: 'failed', job: null });
    expect(broker.readRecord(KEY)?.job.state).toBe('COMPLETED');
  });

  test('a router that dies between claim and send, or between send and record, costs a try and no more', async () => {
    const dying = attempt();
    receive = () => new Promise(() => undefined);
    for (const died of [1, 2, 3]) {
      void dying.run(pendingOf(stored()!));
      await letRun();
      expect(sent).toHaveLength(died);
      await round(senderWith());
      expect(sent).toHaveLength(died);
      await clock.advance(CLAIM_MS);
    }
    receive = async () => delivered;
    await round(senderWith());
    expect(sent).toHaveLength(3);
    expect(stored()).toMatchObject({ outcome: 'failed' });
    expect(stored()?.tries.map(({ error }) => error)).toEqual(
      [1, 2, 3].map(() => expect.stringMatching(/^interrupted/)),
    );
  });

  test('a process that stood still after its claim sends nothing any more', async () => {
    const replace = async (...input: Parameters<JobStore['deliveries']['replace']>) => {
      const outcome = await store.deliveries.replace(...input);
      await clock.advance(15_000);
      return outcome;
    };
    const outcome = await attempt({ deliveries: { ...store.deliveries, replace } }).run(pendingOf(stored()!));
    expect(outcome).toEqual({ kind: 'stalled' });
    expect(sent).toEqual([]);
    expect(stored()?.tries).toHaveLength(1);
  });

  test('what was delivered is delivered though the answer to its record was lost', async () => {
    let isLost = true;
    const replace = async (...input: Parameters<JobStore['deliveries']['replace']>) => {
      const outcome = await store.deliveries.replace(...input);
      const [delivery] = input;
      if (delivery.outcome === null || !isLost) return outcome;
      isLost = false;
      return { kind: 'unknown' } as const;
    };
    const outcome = await attempt({ deliveries: { ...store.deliveries, replace } }).run(pendingOf(stored()!));
    expect(outcome).toMatchObject({ kind: 'tried', receipt: delivered });
    expect(stored()).toMatchObject({ outcome: 'delivered' });
    expect(sent).toHaveLength(1);
  });

  test('of two routers one tells', async () => {
    const [one, other] = [senderWith(), senderWith()];
    one.sendDue();
    other.sendDue();
    await letRun();
    await Promise.all([one.settled(), other.settled()]);
    expect(sent).toHaveLength(1);
  });

  test('signs with both secrets while a replaced one is valid, and with the new one after that', async () => {
    receive = async () => refused;
    const expiresAtMs = clock.nowMs() + 5_000;
    secrets = { endpointId: EP, secrets: [sealed('ep.2'), sealed('ep.1', expiresAtMs)] };
    const sender = senderWith();
    await round(sender);
    await clock.advance(11_000);
    await round(sender);
    expect(sent.map(({ headers }) => headers['webhook-signature']?.split(' ').length)).toEqual([2, 1]);
  });

  test('without a secret it waits and costs no try', async () => {
    secrets = null;
    const sender = senderWith();
    await round(sender);
    expect([sent, stored()?.tries]).toEqual([[], []]);
    secrets = { endpointId: EP, secrets: [sealed('ep.1')] };
    await round(sender);
    expect(sent).toEqual([]);
    await clock.advance(3_000);
    await round(sender);
    expect(sent).toHaveLength(1);
  });

  test('a secret that cannot be opened sends nothing unsigned', async () => {
    secrets = { endpointId: EP, secrets: [{ ...sealed('ep.1'), id: 'ep.2' }] };
    await round(senderWith());
    expect([sent, stored()?.tries]).toEqual([[], []]);
    expect(await metrics.text()).toContain('router_webhook_postponed_total{reason="fault"} 1');
  });

  test('what has gone meanwhile is forgotten', async () => {
    const gone = pendingOf(stored()!);
    await clock.advance(2 * 24 * 3_600_000);
    expect(await attempt().run(gone)).toEqual({ kind: 'gone' });
    const sender = senderWith({ run: async () => ({ kind: 'gone' }) });
    broker.deliveries.write(
      { ...ATTEMPT, url: URL_TEXT, createdAtMs: 0, job: null, tries: [], nextAtMs: 0, claim: null, outcome: null },
      0,
      9e9,
    );
    await round(sender);
    expect(forgotten).toBe(1);
  });
});

describe('the log', () => {
  test('says what was tried, what came of it and what follows, also when the job has gone', async () => {
    await submit();
    await complete();
    receive = async () => refused;
    const sender = senderWith();
    sender.sendDue();
    await letRun();
    const entry = {
      id: 'msg_job_1',
      url: URL_TEXT,
      attempts: [{ at: expect.any(String), statusCode: 500, error: 'answered 500', durationMs: 0 }],
    };
    const log = new DeliveryLog(store);
    expect(JSON.parse(await log.read(KEY))).toEqual({
      deliveries: [{ ...entry, status: 'pending', nextAttemptAt: expect.any(String) }],
    });
    receive = async () => delivered;
    await clock.advance(120_000);
    sender.sendDue();
    await letRun();
    expect(await store.records.read(KEY)).toBeNull();
    const last = { at: expect.any(String), statusCode: 200, durationMs: 0 };
    expect(JSON.parse(await log.read(KEY))).toEqual({
      deliveries: [{ ...entry, status: 'delivered', attempts: [...entry.attempts, last] }],
    });
  });

  test('is empty for a job without a webhook, and not found for none', async () => {
    await submit(null);
    expect(JSON.parse(await new DeliveryLog(store).read(KEY))).toEqual({ deliveries: [] });
    await expect(new DeliveryLog(store).read({ ...KEY, jobId: 'other' as JobId })).rejects.toThrow(/No such job/);
  });
});
