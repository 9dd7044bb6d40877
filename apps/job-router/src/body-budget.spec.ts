import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@berth/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { BodyBudget, limitAnswers } from './body-budget.js';

describe('the budget for bodies', () => {
  test('takes what fits, refuses what does not, and takes it when there is room again', () => {
    const budget = new BodyBudget(100);
    const release = budget.take(60);
    expect(() => budget.take(41)).toThrow(/try again/);
    budget.take(40);
    release();
    expect(budget.takenBytes).toBe(40);
    budget.take(60);
  });

  test('gives room back once, however often it is asked to', () => {
    const budget = new BodyBudget(100);
    const release = budget.take(10);
    budget.take(20);
    release();
    release();
    expect(budget.takenBytes).toBe(20);
  });

  test('never refuses a body that comes alone', () => {
    expect(() => new BodyBudget(10).take(1_000)).not.toThrow();
  });
});

describe('large answers', () => {
  const ANSWER_BYTES = 16 * 1024 ** 2;
  let app: FastifyInstance;
  let stalled: Socket;

  const open = async (budget: BodyBudget, stalledAfterMs: number): Promise<string> => {
    app = fastify();
    limitAnswers(app, budget, stalledAfterMs);
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
});
