import { expect, test } from '@jest/globals';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench({ environment: { BERTH_TRUSTED_BROKER: 'off' } });

test('on a broker that lets anyone in nobody takes a job in the name of a host, and the router says why', async () => {
  const { client, agent } = await bench.scene();
  const id = await client.run({ secret: 1 });
  await expect(agent.take({ waitMs: 0 })).rejects.toMatchObject({ failure: 'no-responder' });
  expect((await client.status(id)).body.status).toBe('IN_QUEUE');
  const ready = await fetch(`http://127.0.0.1:${bench.router.operationsPort}/readyz`);
  expect(await ready.json()).toMatchObject({ degraded: [expect.stringContaining('the broker lets anyone in')] });
});
