import { eventually } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench({ environment: { BERTH_RATE_LIMITS: 'on', BERTH_REQUESTS_PER_WORKER: '25' } });

const WAITS = 400;

test('two routers count what is held together, and forget it when a router dies', async () => {
  const doomed = await bench.startRouter();
  try {
    const { client, endpointId, tenant } = await bench.scene();
    // Without workers its limits are those of the table.
    await bench.controlPlane.assign(endpointId, []);
    const far = bench.client(endpointId, tenant, doomed);
    const held = Array.from({ length: WAITS }, () => far.post('/runsync?wait=60000', { input: {} }).catch(() => null));
    await eventually(async () => {
      const metrics = await fetch(`http://127.0.0.1:${doomed.operationsPort}/metrics`);
      expect(await metrics.text()).toContain(`berth_router_waiting_callers ${WAITS}\n`);
    });
    await eventually(async () => {
      const { body, status } = await client.post('/runsync?wait=1000', { input: {} });
      expect(status).toBe(429);
      expect(body.detail).toContain('Too many runsync requests');
    });
    doomed.crash();
    await eventually(
      async () => {
        expect((await client.post('/runsync?wait=1000', { input: {} })).status).toBe(200);
      },
      { deadlineMs: 90_000, intervalMs: 250 },
    );
    await Promise.all(held);
  } finally {
    await doomed.stop();
  }
});
