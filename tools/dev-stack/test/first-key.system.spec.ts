import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { afterAll, expect, test } from '@jest/globals';

const FLAGS = ['--runtime', 'process', '--demo', 'off'];
const STACK_MS = 300_000;
const started: StartedStack[] = [];

afterAll(async () => {
  for (const stack of started) await stack.stop();
  await started[0]?.remove();
}, STACK_MS);

test(
  'a first key that was deleted is not let in again, and the next start says so and has another one',
  async () => {
    const first = await StartedStack.start(FLAGS);
    started.push(first);
    const { apiKey } = first.dev;
    const deleted = await new TenantClient(() => first.dev).manage('DELETE', '/v2/api-keys/default');
    expect(deleted.status).toBe(204);
    await first.stop();
    await expect(StartedStack.start(FLAGS, first.folder)).rejects.toThrow('Another one was made: start again.');
    const next = await StartedStack.start(FLAGS, first.folder);
    started.push(next);
    const client = new TenantClient(() => next.dev);
    expect((await client.manage('GET', '/v2/serverless')).status).toBe(200);
    const withOld = new TenantClient(() => ({ ...next.dev, apiKey }));
    expect((await withOld.manage('GET', '/v2/serverless')).status).toBe(401);
  },
  STACK_MS,
);
