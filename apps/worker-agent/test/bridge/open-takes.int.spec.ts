import { expect, test } from '@jest/globals';
import {
  goneSubject,
  jobSubject,
  withdrawSubject,
  WIRE_VERSION,
  type TakeReply,
  type TakeRequest,
} from '@berth/contracts';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { Msg } from '@nats-io/transport-node';
import { TransportRouterLink } from '../../src/job-client/transport-router-link.js';

const HOST = 'host-a' as HostId;
const HOUR_MS = 3_600_000;
const nats = useNatsServer();

const answerNone = (message: Msg, takeId: string): void => {
  message.respond(JSON.stringify({ v: WIRE_VERSION, result: { answers: [{ takeId, kind: 'none' }] } }));
};

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

test('what a router was asked that is gone is not waited for, and what another one still holds is ended there', async () => {
  const [living, agent] = [await nats.connect(), await nats.connect()];
  const host = 'host-b' as HostId;
  const asked: Msg[] = [];
  living.subscribe(jobSubject(host, 'take'), { callback: (_, message) => void asked.push(message) });
  living.subscribe(withdrawSubject(host), {
    callback: () => {
      for (const message of asked.splice(0)) answerNone(message, 'living');
    },
  });
  // Of one that has gone: nobody answers.
  living.subscribe(jobSubject(host, 'done'), { callback: () => undefined });
  await living.flush();
  const link = new TransportRouterLink(new AgentTransport(agent), host, silentLogger);
  await agent.flush();
  const options = { timeoutMs: HOUR_MS, onPart: () => true, onLate: () => undefined };
  const wish = { endpointId: 'ep1' as EndpointId, workerId: 'w' as WorkerId, slots: 1, waitMs: HOUR_MS };
  const held = link.askParts('take', { wishes: [{ takeId: 'living', ...wish }] }, options);
  const lost = link.askParts('done', { ends: [] }, options).catch((error: unknown) => error);
  await eventually(() => expect(asked).toHaveLength(1));
  const tell = (router: unknown): void =>
    living.publish(goneSubject(host), JSON.stringify({ v: WIRE_VERSION, body: { router } }));
  tell(5);
  tell('r1-0');
  await held;
  expect(await lost).toMatchObject({ failure: 'unanswered', isRetriable: true });
  const later = link.askParts('take', { wishes: [{ takeId: 'living', ...wish }] }, options);
  await eventually(() => expect(asked).toHaveLength(1));
  // Another router has found out the same.
  tell('r1-0');
  await living.flush();
  await agent.flush();
  expect(asked).toHaveLength(1);
  tell('r2-0');
  await later;
});
