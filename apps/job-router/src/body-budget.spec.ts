import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { BodyBudget } from '@berth/http';
import { systemClock, type Clock } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { limitAnswers } from './body-budget.js';

describe('large answers', () => {
  const ANSWER_BYTES = 16 * 1024 ** 2;
  let app: FastifyInstance;
  let stalled: Socket;

  const open = async (budget: BodyBudget, stalledAfterMs: number, clock: Clock = systemClock): Promise<string> => {
    app = fastify();
    limitAnswers(app, budget, { clock, stalledAfterMs });
    app.get('/large', () => 'x'.repeat(ANSWER_BYTES));
    app.get('/small', () => 'x');
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    // Asks, and takes nothing of the answer.
    stalled = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause();
    stalled.on('error', () => undefined);
    stalled.write('GET /large HTTP/1.1\r\nhost: test\r\n\r\n');
    await eventually(() => {
      expect(budget.takenBytes).toBe(ANSWER_BYTES);
    });
    return url;
  };

  afterEach(async () => {
    stalled.destroy();
    await app.close();
  });

  test('that nobody takes leave no room for more, until their caller is gone', async () => {
    const budget = new BodyBudget(ANSWER_BYTES + 1);
    const url = await open(budget, 60_000);
    expect((await fetch(`${url}/large`)).status).toBe(500);
    expect((await fetch(`${url}/small`)).status).toBe(200);
    stalled.destroy();
    await eventually(async () => {
      expect((await (await fetch(`${url}/large`)).text()).length).toBe(ANSWER_BYTES);
    });
  });

  test('are taken back from a caller that stalls', async () => {
    const budget = new BodyBudget(ANSWER_BYTES);
    await open(budget, 50);
    stalled.resume();
    stalled.pause();
    await eventually(() => {
      expect(budget.takenBytes).toBe(0);
    });
    stalled.resume();
    await once(stalled, 'close');
  });

  test('that wait behind another one leave room again when their connection is gone', async () => {
    const budget = new BodyBudget(4 * ANSWER_BYTES);
    await open(budget, 60_000);
    stalled.write('GET /large HTTP/1.1\r\nhost: test\r\n\r\n');
    await eventually(() => {
      expect(budget.takenBytes).toBe(2 * ANSWER_BYTES);
    });
    stalled.destroy();
    await eventually(() => {
      expect(budget.takenBytes).toBe(0);
    });
  });

  test('are taken back from a caller that takes a little now and then, when 16 KiB a second would have been enough', async () => {
    const budget = new BodyBudget(ANSWER_BYTES);
    const clock = new ManualClock();
    await open(budget, 60_000, clock);
    const enoughMs = 60_000 + (ANSWER_BYTES / (16 * 1024)) * 1_000;
    for (let taken = 0; taken < 3; taken += 1) {
      await clock.advance(enoughMs / 4);
      stalled.resume();
      await once(stalled, 'data');
      stalled.pause();
      expect(budget.takenBytes).toBe(ANSWER_BYTES);
    }
    await clock.advance(enoughMs / 4);
    await eventually(() => {
      expect(budget.takenBytes).toBe(0);
    });
  });
});
