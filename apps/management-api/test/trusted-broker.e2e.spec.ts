import { expect, test } from '@jest/globals';
import { hostSubject, inboxPrefix } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { useManagementApi } from './management-bench.js';

const bench = useManagementApi({ environment: { BERTH_TRUSTED_BROKER: 'off' } });

test('on a broker that lets anyone in nobody joins or reports in the name of a host, and the API says why', async () => {
  const { body } = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
  const hostId = body.hostId as HostId;
  const agent = new AgentTransport(await bench.nats.connect({ inboxPrefix: inboxPrefix(hostId) }));
  for (const verb of ['join', 'report'] as const) {
    const asking = agent.request(hostSubject(hostId, verb), {}, { timeoutMs: 5_000 });
    await expect(asking).rejects.toMatchObject({ failure: 'no-responder' });
  }
  const ready = await fetch(`${bench.operationsUrl}/readyz`);
  expect(await ready.json()).toMatchObject({ degraded: [expect.stringContaining('the broker lets anyone in')] });
});
