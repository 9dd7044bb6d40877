import { webhookSecretContext } from '@berth/contracts';
import { CLAIM_MS } from '@berth/domain';
import { ConfigReader, systemClock } from '@berth/lifecycle';
import { readSecretBox } from '@berth/secrets';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RouterBench, SECRET_KEY } from './bench/router-bench.js';
import { WebhookReceiver, isGenuine, type Received } from './bench/webhook-receiver.js';

const bench = new RouterBench({ environment: { BERTH_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
const box = readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: SECRET_KEY }));
const SECRET = `whsec_${Buffer.from('the first secret of the endpoint').toString('base64')}`;

let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await WebhookReceiver.open(() => systemClock.nowMs());
});
afterAll(() => receiver.close());

test('a router dies while the receiver has its request: another tells it once more when the claim is over', async () => {
  const { agent, client, endpointId, tenant } = await bench.scene();
  const secretId = `${endpointId}.1`;
  const sealed = box.seal(SECRET, webhookSecretContext(endpointId, secretId));
  await bench.controlPlane.webhookSecrets(endpointId, [{ id: secretId, sealed, expiresAtMs: null }]);
  const held: Received[] = [];
  receiver.answer = (received) => void held.push(received);
  const id = await client.run({}, { webhook: receiver.url() });
  await agent.complete(await agent.takeOne(), 1);
  await eventually(() => expect(receiver.of(id)).toHaveLength(1));

  // The only router so far, so it is the one that has claimed.
  bench.router.crash();
  const survivor = bench.client(endpointId, tenant, await bench.startRouter());
  receiver.answer = ({ response }) => response.end();
  for (const { response } of held) response.end();

  await eventually(
    async () => {
      const { body } = await survivor.call(`/webhooks/${id}`);
      expect(body.deliveries).toMatchObject([
        { status: 'delivered', attempts: [{ error: /^interrupted/ }, { statusCode: 200 }].map(matching) },
      ]);
    },
    { deadlineMs: CLAIM_MS + 20_000 },
  );
  const [first, second, ...more] = receiver.of(id);
  expect(more).toEqual([]);
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(CLAIM_MS - 1_000);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.text).toBe(first?.text);
  expect(isGenuine(second!, SECRET, systemClock.nowMs())).toBe(true);
});

const matching = ({ error, ...rest }: { readonly error?: RegExp; readonly statusCode?: number }): object => ({
  ...rest,
  ...(error === undefined ? {} : { error: expect.stringMatching(error) }),
});
