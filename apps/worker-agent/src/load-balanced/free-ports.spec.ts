import { once } from 'node:events';
import { createServer } from 'node:net';
import type { WorkerId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { afterEach, expect, test } from '@jest/globals';
import { FreePorts } from './free-ports.js';

const W = 'w1' as WorkerId;
const server = createServer();
afterEach(() => {
  server.close();
});

test.each(['127.0.0.1', '::1'])('a port that somebody has at %s is not given to a worker', async (host) => {
  const fractions: number[] = [];
  const seen = { ...systemRandom, fraction: () => fractions[fractions.push(systemRandom.fraction()) - 1] ?? 0 };
  const [port = 0] = (await new FreePorts(seen).take(W, 1)) ?? [];
  await once(server.listen(port, host), 'listening');
  const again = [fractions.at(-1) ?? 0];
  const same = { ...systemRandom, fraction: () => again.pop() ?? systemRandom.fraction() };
  const taken = await new FreePorts(same).take(W, 1);
  expect(again).toEqual([]);
  expect(taken).not.toBeNull();
  expect(taken).not.toContain(port);
});
