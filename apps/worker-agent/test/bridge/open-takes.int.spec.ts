import { expect, test } from '@jest/globals';
import { jobSubject, withdrawSubject, WIRE_VERSION, type TakeRequest } from '@berth/contracts';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { eventually, useNatsServer } from '@berth/testing';
import type { Msg } from '@nats-io/transport-node';
import { TransportRouterLink } from '../../src/job-client/job-client.service.js';

const HOST = 'host-a' as HostId;
const HOUR_MS = 3_600_000;
const nats = useNatsServer();

test('takes that were open when the connection was lost are withdrawn once it is back, and no other', async () => {
  const [router, agent] = [await nats.connect(), await nats.connect()];
  const held: Msg[] = [];
  const withdrawn: unknown[] = [];
  router.subscribe(jobSubject('*', 'take'), { callback: (_, message) => void held.push(message) });
  router.subscribe(withdrawSubject('*'), {
    callback: (_, message) => {
      withdrawn.push(message.json());
      held.pop()?.respond(JSON.stringify({ v: WIRE_VERSION, result: { kind: 'none' } }));
    },
  });
  await router.flush();
  const link = new TransportRouterLink(new AgentTransport(agent), HOST, silentLogger);
  const take = (workerId: string): Promise<unknown> => {
    const endpointId = 'ep1' as EndpointId;
    const request: TakeRequest = { endpointId, workerId: workerId as WorkerId, slots: 1, waitMs: HOUR_MS };
    return link.ask('take', request, { timeoutMs: HOUR_MS });
  };
  const answered = take('answered');
  await eventually(() => expect(held).toHaveLength(1));
  held.pop()?.respond(JSON.stringify({ v: WIRE_VERSION, result: { kind: 'none' } }));
  await answered;
  const open = take('open');
  await eventually(() => expect(held).toHaveLength(1));
  await agent.reconnect();
  expect(await open).toEqual({ kind: 'none' });
  expect(withdrawn).toEqual([{ v: WIRE_VERSION, body: { endpointId: 'ep1', workerId: 'open' } }]);
});
