import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock, type Clock } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { BodyBudget } from '../bodies/body-budget.js';
import { limitAnswers } from './limit-answers.js';

describe('large answers', () => {
  const ANSWER_BYTES = 16 * 1024 ** 2;
  let app: FastifyInstance;
  let stalled: Socket;

  const open = async (budget: BodyBudget, stalledAfterMs: number, clock: Clock = systemClock): Promise<string> => {
    app = fastify();
    limitAnswers(app, { accounts: budget, strangers: budget }, { clock, stalledAfterMs });
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

describe('small answers', () => {
  const ANSWER_BYTES = 60 * 1024;
  const ANSWERS = 2_000;
  const gate: { open: () => void; opened: Promise<void> } = { open: () => undefined, opened: Promise.resolve() };
  let app: FastifyInstance;
  let caller: Socket;
  let clock: ManualClock;
  let budget: BodyBudget;
  let finished: number;
  let sent: number;

  beforeEach(async () => {
    [clock, app, finished] = [new ManualClock(), fastify(), 0];
    [budget, sent] = [new BodyBudget(), 0];
    limitAnswers(app, { accounts: budget, strangers: budget }, { clock });
    app.addHook('onSend', async () => {
      sent += 1;
    });
    app.addHook('onResponse', async () => {
      finished += 1;
    });
    app.get('/small', () => 'x'.repeat(ANSWER_BYTES));
    app.get('/held', async () => {
      await gate.opened;
      return 'held';
    });
    app.get('/held-large', async () => {
      await gate.opened;
      return 'x'.repeat(2 * ANSWER_BYTES);
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    caller = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause();
    caller.on('error', () => undefined);
  });

  afterEach(async () => {
    gate.open();
    caller.destroy();
    await app.close();
  });

  test('that nobody reads are cut off, however many each fits into the buffers of its socket', async () => {
    caller.write('GET /small HTTP/1.1\r\nhost: test\r\n\r\n'.repeat(ANSWERS));
    // Those that do not fit wait for their reader.
    await eventually(() => {
      expect(clock.waiting).toBeGreaterThan(0);
      expect(finished).toBeGreaterThan(0);
    });
    expect(finished).toBeLessThan(ANSWERS);
    await clock.advance(70_000);
    caller.resume();
    await once(caller, 'close');
    expect(caller.bytesRead).toBeLessThan(ANSWERS * ANSWER_BYTES);
    expect(clock.waiting).toBe(0);
  });

  test.each(['/held', '/held-large'])('(%s) to a caller that has gone meanwhile hold nothing', async (path) => {
    gate.opened = new Promise((resolve) => {
      gate.open = resolve;
    });
    caller.write(`GET ${path} HTTP/1.1\r\nhost: test\r\n\r\n`);
    const [request] = (await once(app.server, 'request')) as [IncomingMessage];
    caller.destroy();
    await once(request.socket, 'close');
    gate.open();
    await eventually(() => {
      expect(sent).toBe(1);
    });
    expect([budget.takenBytes, clock.waiting]).toEqual([0, 0]);
  });

  test('that wait behind one that is not there yet are waited for', async () => {
    gate.opened = new Promise((resolve) => {
      gate.open = resolve;
    });
    let heard = '';
    caller.on('data', (text) => (heard += String(text))).resume();
    caller.write(`GET /held HTTP/1.1\r\nhost: test\r\n\r\nGET /small HTTP/1.1\r\nhost: test\r\n\r\n`);
    await once(app.server, 'request');
    await clock.advance(600_000);
    gate.open();
    await eventually(() => {
      expect(heard.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    });
    await eventually(() => {
      expect(clock.waiting).toBe(0);
    });
  });
});
