import { Writable } from 'node:stream';
import {
  CLAIM_MS,
  ENDPOINT_BOUNDS_DEFAULT,
  PlatformError,
  TRY_INTERVAL_MS,
  encodeJson,
  newEndpointState,
  performCommand,
  viewDueDeliveries,
  viewToldEnd,
  type AccountId,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type EndpointState,
  type HostId,
  type JobBody,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { ConfigReader } from '@berth/lifecycle';
import { readSecretBox } from '@berth/secrets';
import { MetricRegistry, RecordedTraces, createLogger, type Span } from '@berth/telemetry';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { webhookSecretContext, type WebhookSecretsSnapshot } from '@berth/contracts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { webhookMetrics } from './metrics.js';
import { WebhookSigner } from './webhook-signer.js';
import type { Receipt, WebhookRequest } from './webhook-transport.js';
import type { SendLimits } from './choose-tries.js';
import { DeliverySender } from './delivery-sender.js';
import { DeliveryPoster } from './delivery-poster.js';
import type { OwnedDeliveries } from './owned-deliveries.port.js';

const EP = 'ep' as EndpointId;
const HOST = 'host' as HostId;
const URL_TEXT = 'https://hooks.example/end';
const JOB = 'job' as JobId;
const KEY = { endpointId: EP, jobId: JOB, attempt: 1 };
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const delivered: Receipt = { kind: 'delivered', isSuccess: true, statusCode: 200, error: null };
const refused: Receipt = { kind: 'refused', isSuccess: false, statusCode: 500, error: 'answered 500' };

let clock: ManualClock;
let state: EndpointState;
let metrics: MetricRegistry;
let sent: WebhookRequest[];
let spans: Span[];
let logged: object[];
let receive: (request: WebhookRequest) => Promise<Receipt>;
let secrets: WebhookSecretsSnapshot | null;
let seed = 0;

const box = readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') }));
const sealed = (id: string, expiresAtMs: number | null = null) => ({
  id,
  sealed: box.seal(`whsec_${Buffer.from(`secret of ${id}`).toString('base64')}`, webhookSecretContext(EP, id)),
  expiresAtMs,
});

/** The endpoint's real rules, without a disk. */
function perform(command: EndpointCommand): CommandOutcome {
  for (;;) {
    const performed = performCommand(state, command, { nowMs: clock.nowMs(), write: () => ({ sequence: 1 }) });
    if (performed.kind === 'illegal') throw new Error(performed.why);
    if (performed.kind === 'performed') return performed.answer;
  }
}

const owned: OwnedDeliveries = {
  due: async (_, limit) => viewDueDeliveries(state, clock.nowMs(), limit),
  read: async (key) => {
    const end = viewToldEnd(state, key, clock.nowMs());
    if (end === null) return null;
    const { body, job, url } = end;
    return { job: { ...job, output: job.output.value }, url, body: body.value as JobBody };
  },
  begin: async (_, command) => {
    const answer = perform(command);
    return answer.kind === 'begun' ? answer.untilMs : null;
  },
  end: async (_, command) => void perform(command),
};

beforeEach(() => {
  clock = new ManualClock();
  state = newEndpointState(0);
  metrics = new MetricRegistry();
  sent = [];
  [spans, logged] = [[], []];
  receive = async () => delivered;
  secrets = { endpointId: EP, secrets: [sealed('ep.1')] };
});

function complete(jobId: JobId = JOB, webhook = URL_TEXT): void {
  const body = {
    input: { kind: 'inline', json: encodeJson({ a: 1 }) },
    extras: encodeJson({ note: 1 }),
    sealedExtras: null,
    traceparent: PARENT,
  } as const;
  const more = { origin: 'run', isLowPriority: false, executionTimeoutMs: 60_000, bodyBytes: 7 } as const;
  const wish = { jobId, webhook, ttlMs: 3_600_000, retentionMs: 60_000, body, ...more };
  const sentAtMs = clock.nowMs();
  perform({ kind: 'submit', sentAtMs, jobs: [wish], key: null, takers: [], bounds: ENDPOINT_BOUNDS_DEFAULT });
  const take = { takeId: `take of ${jobId}`, hostId: HOST, workerId: 'w' as WorkerId, slots: 1, secret: `s${jobId}` };
  const answer = perform({ kind: 'take', sentAtMs, wishes: [take] });
  const given = answer.kind === 'takes' ? answer.takes[0]?.jobs[0] : undefined;
  if (given === undefined) throw new Error('nothing was taken');
  const shown = { output: null, outputBytes: 0, chunks: 0, logTail: [], error: null } as const;
  perform({ kind: 'finish', ...given, hostId: HOST, state: 'COMPLETED', ...shown });
}

const attempt = (over: Partial<OwnedDeliveries> = {}): DeliveryPoster =>
  new DeliveryPoster({
    deliveries: { ...owned, ...over },
    blobs: { read: async () => null },
    statusBody: ({ jobId: id, state: status }) => encodeJson({ id, status }),
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
    clock,
    traces: new RecordedTraces({ sink: (span) => spans.push(span), clock, random: new SeededRandom(0), permille: 0 }),
    // Chance of its own in each process.
    random: new SeededRandom((seed += 1)),
  });

const output = new Writable({
  write: (line: Buffer, _, done) => {
    logged.push(JSON.parse(line.toString()) as object);
    done();
  },
});

const senderWith = (work: Pick<DeliveryPoster, 'run'> = attempt()): DeliverySender =>
  new DeliverySender({
    deliveries: owned,
    attempt: work,
    accountOf: () => 'account' as AccountId,
    clock,
    metrics: webhookMetrics(metrics),
    logger: createLogger({ name: 'test', level: 'debug', format: 'json', output }),
  });

const round = async (sender: DeliverySender): Promise<void> => {
  sender.isDue(EP);
  await sender.sendDue();
  await letRun();
  await sender.settled();
};

const stored = (attemptNo = 1) =>
  state.deliveries.get(`${JOB}/${attemptNo}`)?.data ?? state.delivered.get(`${JOB}/${attemptNo}`)?.data;

describe('the sender', () => {
  beforeEach(() => complete());

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
    expect(spans).toMatchObject([
      {
        name: 'POST webhook',
        kind: 'client',
        parentSpanId: 'b7ad6b7169203331',
        attributes: { 'messaging.message.id': JOB, 'http.response.status_code': 200 },
        error: null,
      },
    ]);
    expect(sent[0]?.headers['traceparent']).toContain(spans[0]?.context.spanId);
    expect(stored()).toMatchObject({ outcome: 'delivered', told: null, tries: [{ statusCode: 200, error: null }] });
    expect(await metrics.text()).toContain('berth_router_webhook_tries_total{outcome="delivered"} 1');
    expect(logged).toMatchObject([{ msg: 'told a receiver', jobId: JOB, traceId: '0af7651916cd43dd8448eb211c80319c' }]);
  });

  test('tries three times, ten seconds apart, under one id; then it has failed', async () => {
    receive = async () => refused;
    const sender = senderWith();
    const atMs: number[] = [];
    for (let half = 0; half < 60; half += 1) {
      const before = sent.length;
      await round(sender);
      if (sent.length > before) atMs.push(clock.nowMs());
      await clock.advance(500);
    }
    expect(new Set(sent.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(['msg_job_1']));
    expect(atMs.slice(1).map((at, n) => at - (atMs[n] ?? 0))).toEqual([TRY_INTERVAL_MS, TRY_INTERVAL_MS]);
    expect(stored()).toMatchObject({ outcome: 'failed', told: null });
    expect(state.jobs.get(JOB)?.data.state).toBe('COMPLETED');
  });

  test('a router that dies between begin and send, or between send and its end, costs a try and no more', async () => {
    const dying = attempt();
    receive = () => new Promise(() => undefined);
    for (const died of [1, 2, 3]) {
      void dying.run(KEY);
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

  test('a process that stood still after its try began sends nothing any more', async () => {
    const begin: OwnedDeliveries['begin'] = async (...input) => {
      const untilMs = await owned.begin(...input);
      await clock.advance(15_000);
      return untilMs;
    };
    expect(await attempt({ begin }).run(KEY)).toEqual({ kind: 'stalled' });
    expect(sent).toEqual([]);
    expect(stored()?.tries).toHaveLength(1);
  });

  test('what was delivered is delivered though the answer to its end was lost', async () => {
    let isLost = true;
    const end: OwnedDeliveries['end'] = async (...input) => {
      await owned.end(...input);
      if (isLost) {
        isLost = false;
        throw new PlatformError('service-unavailable', 'no answer');
      }
    };
    const trying = attempt({ end }).run(KEY);
    await clock.advance(1_000);
    expect(await trying).toEqual({ kind: 'tried', receipt: delivered });
    expect(stored()).toMatchObject({ outcome: 'delivered' });
    expect(sent).toHaveLength(1);
  });

  test('of two routers one tells', async () => {
    const [one, other] = [senderWith(), senderWith()];
    one.isDue(EP);
    other.isDue(EP);
    await Promise.all([one.sendDue(), other.sendDue()]);
    await letRun();
    await Promise.all([one.settled(), other.settled()]);
    expect(sent).toHaveLength(1);
  });

  test('signs with both secrets while a replaced one is valid, and with the new one after that', async () => {
    receive = async () => refused;
    secrets = { endpointId: EP, secrets: [sealed('ep.2'), sealed('ep.1', clock.nowMs() + 5_000)] };
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
    expect(await metrics.text()).toContain('berth_router_webhook_postponed_total{reason="fault"} 1');
  });
});

test('a receiver that never answers holds up no other receiver of its endpoint', async () => {
  const slow = Array.from({ length: 100 }, (_, n) => `slow${n}` as JobId);
  for (const jobId of slow) complete(jobId, 'https://slow.example/end');
  complete(JOB);
  receive = ({ url }) => (url === URL_TEXT ? Promise.resolve(delivered) : new Promise(() => undefined));
  const sender = senderWith();
  for (let turn = 0; turn < 2; turn += 1) {
    sender.isDue(EP);
    await sender.sendDue();
    await letRun();
  }
  expect(sent.filter(({ url }) => url !== URL_TEXT)).toHaveLength(8);
  expect(stored()).toMatchObject({ outcome: 'delivered' });
});

describe('a place that is free again', () => {
  const LARGE = 2 * 1024 ** 2;
  const limits: SendLimits = { total: 2, perAccount: 2, perHost: 2, large: 1 };
  const [MANY, ONE] = ['many' as EndpointId, 'one' as EndpointId];

  /** Endpoints of accounts of their own, whose deliveries stay due; what was begun ends when it is told to. */
  function open(bytes: number) {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const jobsOf = (endpointId: EndpointId) => (endpointId === ONE ? ['one'] : ['m1', 'm2', 'm3', 'm4']);
    const dueOf = (jobId: string) => ({
      jobId: jobId as JobId,
      attempt: 1,
      dueAtMs: 0,
      bytes,
      url: `https://${jobId}.example`,
    });
    const sender = new DeliverySender({
      deliveries: { due: async (endpointId) => jobsOf(endpointId).map(dueOf) },
      attempt: {
        run: async ({ jobId }) => {
          begun.push(jobId);
          await new Promise<void>((resolve) => ends.push(resolve));
          return { kind: 'gone' };
        },
      },
      accountOf: (endpointId) => `account of ${endpointId}` as AccountId,
      clock,
      limits,
      metrics: webhookMetrics(metrics),
      logger: createLogger({ name: 'test', level: 'debug', format: 'json', output }),
    });
    return { begun, ends, sender };
  }

  test.each([
    ['any', 10],
    ['a large body', LARGE],
  ])('for %s is given to the endpoint that waited, and not back to the one that had it', async (_, bytes) => {
    const { begun, ends, sender } = open(bytes);
    sender.isDue(MANY);
    await sender.sendDue();
    const before = [...begun];
    // Its owner tells of it once.
    sender.isDue(ONE);
    await sender.sendDue();
    expect(begun).toEqual(before);
    ends[0]?.();
    await letRun();
    await sender.sendDue();
    expect(begun).toEqual([...before, 'one']);
    for (const end of ends) end();
  });
});
