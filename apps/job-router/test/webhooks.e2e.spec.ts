import { webhookSecretContext } from '@berth/contracts';
import { toRawJson, type EndpointId } from '@berth/domain';
import { ConfigReader, systemClock } from '@berth/lifecycle';
import { readSecretBox } from '@berth/secrets';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RouterBench, SECRET_KEY, type Scene } from './bench/router-bench.js';
import { WebhookReceiver, isGenuine, type Received } from './bench/webhook-receiver.js';

const now = (): number => systemClock.nowMs();
const looked: string[] = [];
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'hooks.example': ['127.0.0.1'],
  'inside.example': ['127.0.0.1', '10.0.0.1'],
};
const bench = new RouterBench({
  environment: { BERTH_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
  nameLookup: {
    addressesOf: async (name) => {
      looked.push(name);
      return ADDRESSES[name] ?? [];
    },
  },
});
const box = readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: SECRET_KEY }));
const SECRET = `whsec_${Buffer.from('the first secret of the endpoint').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.from('a secret that came before this').toString('base64')}`;

const sealed = (
  endpointId: EndpointId,
  [ordinal, secret]: readonly [number, string],
  expiresAtMs: number | null = null,
) => {
  const id = `${endpointId}.${ordinal}`;
  return { id, sealed: box.seal(secret, webhookSecretContext(endpointId, id)), expiresAtMs };
};

let receiver: WebhookReceiver;
let scene: Scene;

beforeAll(async () => {
  receiver = await WebhookReceiver.open(now);
});
afterAll(() => receiver.close());

beforeEach(async () => {
  receiver.answer = ({ response }) => response.end('thanks');
  scene = await bench.scene();
  await bench.controlPlane.webhookSecrets(scene.endpointId, [sealed(scene.endpointId, [1, SECRET])]);
});

interface LoggedDelivery {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly attempts: readonly { readonly statusCode?: number; readonly error?: string }[];
  readonly nextAttemptAt?: string;
}

const logOf = async (id: string, client = scene.client): Promise<{ deliveries: readonly LoggedDelivery[] }> =>
  (await client.call(`/webhooks/${id}`)).body as { deliveries: readonly LoggedDelivery[] };

/** Submits a job and completes it. */
const complete = async (webhook: string, output: unknown = { ok: true }): Promise<string> => {
  const id = await scene.client.run({ a: 1 }, { webhook });
  await scene.agent.complete(await scene.agent.takeOne(), output);
  return id;
};

const told = (id: string, times = 1, deadlineMs = 20_000): Promise<readonly Received[]> =>
  eventually(
    () => {
      expect(receiver.of(id)).toHaveLength(times);
      return Promise.resolve(receiver.of(id));
    },
    { deadlineMs },
  );

describe('a receiver is told', () => {
  test('how the job ended, in the very text of input and output, signed', async () => {
    const webhook = receiver.url('/hook?token=a%20b');
    const input = '{ "n": 9007199254740993, "text":"é" }';
    const { body } = await scene.client.post('/run', `{"input":${input},"webhook":${JSON.stringify(webhook)}}`, {
      headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    });
    const output = toRawJson('{ "z":1.0, "a":[ ] }');
    await scene.agent.completeWith(await scene.agent.takeOne(), output);
    const [received] = await told(body.id as string);
    const status = (await scene.client.status(body.id as string)).text;
    expect(received?.text).toBe(`${status.slice(0, -1)},"input":${input},"webhook":${JSON.stringify(webhook)}}`);
    expect(received?.text).toContain(`"output":${output}`);
    expect(received?.path).toBe('/hook?token=a%20b');
    expect(received?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Berth-Webhooks/),
      traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-/),
      'webhook-id': `msg_${body.id}_1`,
    });
    expect(isGenuine(received!, SECRET, now())).toBe(true);
    expect(isGenuine({ ...received!, text: `${received!.text} ` }, SECRET, now())).toBe(false);
    expect(isGenuine(received!, OTHER_SECRET, now())).toBe(false);
    await eventually(async () => {
      expect(await logOf(body.id as string)).toEqual({
        deliveries: [
          {
            id: `msg_${body.id}_1`,
            url: webhook,
            status: 'delivered',
            attempts: [{ at: expect.any(String), statusCode: 200, durationMs: expect.any(Number) }],
          },
        ],
      });
    });
  });

  test('of FAILED and of CANCELLED', async () => {
    const failed = await scene.client.run({}, { webhook: receiver.url() });
    await scene.agent.done(await scene.agent.takeOne(), { kind: 'failed', error: 'boom', output: null });
    const cancelled = await scene.client.run({}, { webhook: receiver.url() });
    await scene.client.post(`/cancel/${cancelled}`, {});
    const [one] = await told(failed);
    const [other] = await told(cancelled);
    expect(JSON.parse(one?.text ?? '')).toMatchObject({ status: 'FAILED', error: 'boom' });
    expect(JSON.parse(other?.text ?? '')).toMatchObject({ status: 'CANCELLED' });
  });

  test('with large input and output, whole', async () => {
    const text = 'x'.repeat(3 * 1024 ** 2);
    const id = await scene.client.run({ text }, { webhook: receiver.url() });
    await scene.agent.completeWith(await scene.agent.takeOne(), toRawJson(JSON.stringify({ text })));
    const [received] = await told(id);
    expect(isGenuine(received!, SECRET, now())).toBe(true);
    expect(JSON.parse(received?.text ?? '')).toMatchObject({ input: { text }, output: { text } });
  });

  test('with both signatures while a replaced secret is valid', async () => {
    const { endpointId } = scene;
    const replaced = sealed(endpointId, [1, OTHER_SECRET], now() + 60_000);
    await bench.controlPlane.webhookSecrets(endpointId, [sealed(endpointId, [2, SECRET]), replaced]);
    // The watch of the bucket is a moment behind.
    const received = await eventually(async () => {
      const [first] = await told(await complete(receiver.url()));
      expect(isGenuine(first!, OTHER_SECRET, now())).toBe(true);
      return first!;
    });
    expect(isGenuine(received, SECRET, now())).toBe(true);
    expect(String(received.headers['webhook-signature']).split(' ')).toHaveLength(2);
  });

  test('under a name, at the address that was looked up once', async () => {
    const id = await complete(`http://hooks.example:${receiver.port}/named`);
    const [received] = await told(id);
    expect(received?.headers.host).toBe(`hooks.example:${receiver.port}`);
    expect(looked.filter((name) => name === 'hooks.example')).toHaveLength(1);
  });

  test('once a secret is there, and never without', async () => {
    const bare = await bench.scene();
    const id = await bare.client.run({}, { webhook: receiver.url() });
    await bare.agent.complete(await bare.agent.takeOne(), 1);
    await eventually(async () => expect((await logOf(id, bare.client)).deliveries).toMatchObject([{ attempts: [] }]));
    expect(receiver.of(id)).toEqual([]);
    await bench.controlPlane.webhookSecrets(bare.endpointId, [sealed(bare.endpointId, [1, SECRET])]);
    const [received] = await told(id);
    expect(isGenuine(received!, SECRET, now())).toBe(true);
  });
});

describe('what is no success', () => {
  test('is tried again, three times in all, ten seconds apart, under one id; the job stays as it was', async () => {
    receiver.answer = ({ response }) => response.writeHead(500).end('no');
    const [id, redirected] = [await complete(receiver.url()), await complete(receiver.url('/moved'))];
    receiver.answer = ({ path, response }) =>
      path === '/moved'
        ? response.writeHead(302, { location: receiver.url('/elsewhere') }).end()
        : response.writeHead(500).end('no');
    const received = await told(id, 3, 40_000);
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([`msg_${id}_1`]));
    for (const each of received) expect(isGenuine(each, SECRET, now())).toBe(true);
    const apart = received.slice(1).map(({ atMs }, at) => atMs - (received[at]?.atMs ?? 0));
    for (const ms of apart) expect(ms).toBeGreaterThanOrEqual(10_000);
    await eventually(async () => {
      const { deliveries } = await logOf(id);
      expect(deliveries).toMatchObject([
        { status: 'failed', attempts: [1, 2, 3].map(() => ({ statusCode: 500, error: 'answered 500: no' })) },
      ]);
      expect(deliveries[0]).not.toHaveProperty('nextAttemptAt');
    });
    await eventually(async () => expect((await logOf(redirected)).deliveries).toMatchObject([{ status: 'failed' }]));
    expect((await logOf(redirected)).deliveries[0]?.attempts.at(-1)?.error).toContain('redirects are not followed');
    expect(receiver.received.filter(({ path }) => path === '/elsewhere')).toEqual([]);
    expect((await scene.client.status(id)).body.status).toBe('COMPLETED');
  });

  test('nobody there; a slow receiver; a name whose address is forbidden: the log says why and what follows', async () => {
    const closed = await WebhookReceiver.open(now);
    const nobody = closed.url();
    await closed.close();
    receiver.answer = ({ path, response }) => void (path === '/slow' ? undefined : response.end());
    const ids = [
      await complete(nobody),
      await complete(`http://inside.example:${receiver.port}/`),
      await complete(receiver.url('/slow')),
    ];
    const errors = ['could not be reached', 'must not go to 10.0.0.1: private', 'no whole answer within 10 s'];
    for (const [at, id] of ids.entries()) {
      await eventually(
        async () => {
          const [delivery] = (await logOf(id)).deliveries;
          expect(delivery).toMatchObject({ status: 'pending', nextAttemptAt: expect.any(String) });
          expect(delivery?.attempts[0]?.error).toContain(errors[at]);
          expect(delivery?.attempts[0]).not.toHaveProperty('statusCode');
        },
        { deadlineMs: 90_000 },
      );
    }
  });
});

describe('an address that is forbidden', () => {
  test.each([
    ['http://10.0.0.1/', 'private'],
    ['http://0xA000001/', 'private'],
    ['http://[::ffff:127.0.0.1]/', 'IPv4-carrying'],
    ['http://169.254.169.254/latest', 'link-local'],
    ['http://user:word@example.com/', 'user name'],
    ['ftp://example.com/', 'http or https'],
  ])('is refused with the job: %s', async (webhook, reason) => {
    for (const path of ['/run', '/runsync']) {
      const { status, body } = await scene.client.post(path, { input: {}, webhook });
      expect(status).toBe(400);
      expect(body.errors).toEqual([expect.stringMatching(/^\$\.webhook: /)]);
      expect(body.errors[0]).toContain(reason);
    }
  });
});

describe('the log of deliveries', () => {
  test('is its own tenant’s: 404 for a foreign endpoint, 401 without a key, 404 for no job, empty without a webhook', async () => {
    const id = await complete(receiver.url());
    await told(id);
    const stranger = bench.client(scene.endpointId, await bench.controlPlane.tenant());
    expect((await stranger.call(`/webhooks/${id}`)).status).toBe(404);
    expect((await fetch(`${bench.router.url}/v2/${scene.endpointId}/webhooks/${id}`)).status).toBe(401);
    expect((await scene.client.call('/webhooks/nothing')).status).toBe(404);
    const reader = await bench.controlPlane.tenant({ accountId: scene.tenant.accountId, scopes: ['jobs:write'] });
    expect((await bench.client(scene.endpointId, reader).call(`/webhooks/${id}`)).status).toBe(403);
    expect(await logOf(await scene.client.run({}))).toEqual({ deliveries: [] });
  });

  test('goes with the endpoint', async () => {
    const id = await complete(receiver.url());
    await told(id);
    const { endpointId, tenant } = scene;
    await bench.controlPlane.endpoint(tenant.accountId, { id: endpointId, isDeleted: true });
    await eventually(async () => {
      expect((await scene.client.call(`/webhooks/${id}`)).status).toBe(404);
    });
  });
});
