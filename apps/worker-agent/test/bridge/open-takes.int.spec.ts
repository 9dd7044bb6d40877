import { expect, test } from '@jest/globals';
import { jobSubject, withdrawSubject, WIRE_VERSION, type TakeReply, type TakeRequest } from '@berth/contracts';
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
  const answer = (): void => {
    const message = held.pop();
    const asked = message?.json<{ readonly body: TakeRequest }>().body.wishes ?? [];
    const answers = asked.map(({ takeId }) => ({ takeId, kind: 'none' }));
    message?.respond(JSON.stringify({ v: WIRE_VERSION, result: { answers } }));
  };
  router.subscribe(jobSubject('*', 'take'), { callback: (_, message) => void held.push(message) });
  router.subscribe(withdrawSubject('*'), {
    callback: (_, message) => {
      withdrawn.push(message.json());
      answer();
    },
  });
  await router.flush();
  const link = new TransportRouterLink(new AgentTransport(agent), HOST, silentLogger);
  const take = async (workerId: string): Promise<unknown> => {
    const endpointId = 'ep1' as EndpointId;
    const wish = { takeId: workerId, endpointId, workerId: workerId as WorkerId, slots: 1, waitMs: HOUR_MS };
    const heard: TakeReply[] = [];
    const onPart = (reply: TakeReply): boolean => heard.push(reply) > 0;
    await link.askParts('take', { wishes: [wish] }, { timeoutMs: HOUR_MS, onPart, onLate: () => undefined });
    return heard.flatMap(({ answers }) => answers);
  };
  const answered = take('answered');
  await eventually(() => expect(held).toHaveLength(1));
  answer();
  await answered;
  const open = take('open');
  await eventually(() => expect(held).toHaveLength(1));
  await agent.reconnect();
  expect(await open).toEqual([{ takeId: 'open', kind: 'none' }]);
  expect(withdrawn).toEqual([{ v: WIRE_VERSION, body: { endpointId: 'ep1', workerId: 'open' } }]);
});
