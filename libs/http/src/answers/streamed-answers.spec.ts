import { connect, type AddressInfo, type Socket } from 'node:net';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BodyBudget } from '../bodies/body-budget.js';
import { StreamedAnswers, type StreamedAnswer } from './streamed-answers.js';

const MB = 'x'.repeat(1_000_000);
const STALLED_AFTER_MS = 300;
const BUDGET_BYTES = 3_500_000;

let server: FastifyInstance;
let budget: BodyBudget;
let answers: StreamedAnswers;
let answer: (reply: FastifyReply) => Promise<void>;
let sockets: Socket[];

beforeEach(async () => {
  budget = new BodyBudget(BUDGET_BYTES);
  answers = new StreamedAnswers({ budget, clock: systemClock, stalledAfterMs: STALLED_AFTER_MS });
  sockets = [];
  server = fastify();
  server.get('/', async (_request, reply) => {
    await answer(reply.header('x-kept', 'yes'));
    return reply;
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** Asks and then takes nothing of the answer. */
const askAndStall = (): Socket => {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  return socket;
};
const address = (): string => `http://127.0.0.1:${String((server.server.address() as AddressInfo).port)}/`;

describe('an answer that is written piece by piece', () => {
  test('has its headers at once, those of the reply and its own', async () => {
    let begun: StreamedAnswer | undefined;
    answer = async (reply) => {
      begun = answers.begin(reply, { 'content-type': 'text/plain' });
    };
    const { headers, body } = await fetch(address());
    expect([headers.get('x-kept'), headers.get('content-type')]).toEqual(['yes', 'text/plain']);
    expect(await begun?.write('all')).toBe(true);
    begun?.end(' of it');
    expect(await new Response(body).text()).toBe('all of it');
    await eventually(() => expect(answers.open).toBe(0));
  });

  test('waits for a slow reader, holds no more than one piece of it, and cuts it off when it stalls', async () => {
    let written = 0;
    const over = new Promise<void>((resolve) => {
      answer = async (reply) => {
        const stream = answers.begin(reply, {});
        while (await stream.write(MB)) written += 1;
        resolve();
      };
    });
    askAndStall();
    await eventually(() => expect(budget.takenBytes).toBe(1_000_000));
    await over;
    expect(written).toBeLessThan(20);
    expect(budget.takenBytes).toBe(0);
    await eventually(() => expect(answers.open).toBe(0));
  });

  test('may be silent for longer than a reader may stall', async () => {
    let begun: StreamedAnswer | undefined;
    answer = async (reply) => {
      begun = answers.begin(reply, {});
      await begun.write('before');
    };
    const { body } = await fetch(address());
    await systemClock.sleep(2 * STALLED_AFTER_MS);
    begun?.end(' and after');
    expect(await new Response(body).text()).toBe('before and after');
  });

  test('is refused a piece when those of others leave no room', async () => {
    const refused: unknown[] = [];
    answer = async (reply) => {
      const stream = answers.begin(reply, {});
      for (let more = true; more;) {
        more = await stream.write(MB).catch((error: unknown) => refused.push(error) < 0);
      }
      stream.end();
    };
    for (let reader = 0; reader < 5; reader += 1) askAndStall();
    await eventually(() => expect(refused.length).toBeGreaterThan(0));
    expect(refused[0]).toMatchObject({ code: 'service-unavailable' });
    expect(budget.takenBytes).toBeLessThanOrEqual(BUDGET_BYTES);
  });
});

describe('a whole answer', () => {
  test('holds its last byte until what goes before it is done', async () => {
    const order: string[] = [];
    answer = (reply) =>
      answers.send(reply, '{"a":"é"}', async () => {
        order.push('before the end');
      });
    const text = await (await fetch(address())).text();
    order.push('whole');
    expect([text, ...order]).toEqual(['{"a":"é"}', 'before the end', 'whole']);
  });

  test('to a reader that is gone leaves it undone', async () => {
    const large = MB.repeat(30);
    budget = new BodyBudget(2 * large.length);
    answers = new StreamedAnswers({ budget, clock: systemClock });
    let isDone = false;
    const over = new Promise<void>((resolve) => {
      answer = async (reply) => {
        await answers.send(reply, large, async () => {
          isDone = true;
        });
        resolve();
      };
    });
    const socket = askAndStall();
    await eventually(() => expect(budget.takenBytes).toBeGreaterThan(0));
    socket.destroy();
    await over;
    expect([isDone, budget.takenBytes]).toEqual([false, 0]);
  });
});
