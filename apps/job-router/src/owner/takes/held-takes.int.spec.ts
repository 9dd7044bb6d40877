import type { EndpointId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, NatsLogBroker, ensureTopology } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { HeldTakesScene, idsOf } from '../../../test/model/held-takes-scene.js';

const nats = useNatsServer();
const scenes: HeldTakesScene[] = [];
let logs: NatsLogBroker;

beforeAll(async () => {
  const broker = await Broker.over({ connection: await nats.connect() });
  const size = { replicas: 1, storageBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 } as const;
  await ensureTopology({ broker, part: 'jobs', size, clock: systemClock, random: systemRandom });
  logs = new NatsLogBroker({ broker, clock: systemClock });
});

afterEach(() => {
  for (const scene of scenes.splice(0)) scene.stop();
});

/** A router that owns the endpoint, or believes so. */
async function owner(endpointId: EndpointId): Promise<HeldTakesScene> {
  const scene = new HeldTakesScene({ logs, endpointId });
  scenes.push(scene);
  return scene.start();
}

const newEndpoint = (): EndpointId => systemRandom.id(8) as EndpointId;

test('jobs go to those who wait, in order, and what is left to those who come', async () => {
  const scene = await owner(newEndpoint());
  const waiting = [scene.ask(), scene.ask(scene.wish({ slots: 2 }))];
  await scene.submit(...Array.from({ length: 5 }, () => scene.job()));
  await eventually(() => expect(waiting.map(idsOf)).toEqual([['j1'], ['j2', 'j3']]));
  const late = scene.ask(scene.wish({ slots: 9 }));
  await eventually(() => expect(idsOf(late)).toEqual(['j4', 'j5']));
});

test('a take whose answer was lost with its owner gets the same job from the next one', async () => {
  const endpointId = newEndpoint();
  const first = await owner(endpointId);
  const wish = first.wish();
  const asked = first.ask(wish);
  await first.submit(first.job());
  await eventually(() => expect(idsOf(asked)).toEqual(['j1']));
  const again = (await owner(endpointId)).ask(wish);
  await eventually(() => expect(again.answer).toEqual(asked.answer));
});

test('an owner that was replaced says nothing, and the next one holds the take', async () => {
  const endpointId = newEndpoint();
  const old = await owner(endpointId);
  const wish = old.wish();
  const asked = old.ask(wish);
  const next = await owner(endpointId);
  // Its append loses against what the next owner has begun with.
  void old.submit(old.job());
  await eventually(() => expect(asked.answer).toBe('silent'));
  const again = next.ask(wish);
  await next.submit(next.job());
  await eventually(() => expect(idsOf(again)).toEqual(['j1']));
});
