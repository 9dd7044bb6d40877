import type { AttemptRef } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import { beforeEach, expect, test } from '@jest/globals';
import { AgentsScene, ENDPOINT, HOST } from '../../../test/model/agents-scene.js';
import { Renewing } from './renewing.js';

const OTHER = 'other' as EndpointId;

let scene: AgentsScene;
let renewing: Renewing;

beforeEach(() => {
  scene = new AgentsScene();
  renewing = new Renewing(scene);
});

test('leases of several endpoints are renewed at once, and answered in the order of the message', async () => {
  const [first, second, third] = [scene.take(), scene.take({}, OTHER), scene.take()];
  const stranger: AttemptRef = { ...second, token: 'guessed' };
  const { outcomes } = await renewing.renew(HOST, { leases: [first, stranger, third, second] });
  expect(outcomes).toEqual(['renewed', 'lost', 'renewed', 'renewed']);
  expect(scene.owners.asked.map(({ endpointId }) => endpointId)).toEqual([ENDPOINT, OTHER]);
  expect([await scene.count('renewals', { outcome: 'renewed' }), await scene.count('renewals')]).toEqual([3, 4]);
});

test('another host cannot renew what it does not hold', async () => {
  const { outcomes } = await renewing.renew('thief' as never, { leases: [scene.take()] });
  expect(outcomes).toEqual(['lost']);
});

test('an endpoint whose owner is silent keeps no other from being renewed, nor the host waiting', async () => {
  const [first, second] = [scene.take({}, OTHER), scene.take()];
  scene.owners.silent.add(OTHER);
  const renewed = renewing.renew(HOST, { leases: [first, second] });
  await scene.clock.advance(3_000);
  expect(await renewed).toEqual({ outcomes: ['unknown', 'renewed'] });
});

test('a lease that is renewed lives on, and one that is not is lost with its time', async () => {
  const [kept, left] = [scene.take(), scene.take()];
  for (let round = 0; round < 3; round += 1) {
    await scene.clock.advance(15_000);
    expect((await renewing.renew(HOST, { leases: [kept] })).outcomes).toEqual(['renewed']);
  }
  scene.owners.perform(ENDPOINT, { kind: 'look', fraction: 0.5 });
  expect((await renewing.renew(HOST, { leases: [kept, left] })).outcomes).toEqual(['renewed', 'lost']);
});
