import { PlatformError } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { ThreadProgram } from '@berth/lifecycle';
import { READ_MAX_MS } from '../src/request-bodies/large-bodies.js';
import { AT_ONCE_MAX_CHARACTERS, RequestBodies } from '../src/request-bodies/request-bodies.js';
import { WebhookAddresses } from '../src/platform/webhook-addresses.js';
import { SOURCE_THREAD, STALLING_THREAD } from './bench/body-threads.js';

const MIB = 2 ** 20;
const READING_MS = 240_000;

jest.setTimeout(READING_MS);

const open: RequestBodies[] = [];
const clock = new ManualClock(1_000_000);

const bodiesOf = (thread: ThreadProgram, networks: readonly string[] = []): RequestBodies => {
  const webhooks = new WebhookAddresses(networks);
  const bodies = new RequestBodies({ thread, webhooks, clock, logger: silentLogger, metrics: new MetricRegistry() });
  open.push(bodies);
  return bodies;
};

afterEach(async () => {
  jest.restoreAllMocks();
  for (const bodies of open.splice(0)) await bodies.close();
});

/** Tiny lists by the million cost most to make. */
const bomb = (bytes: number): string => `{"input":{"a":[${'[],'.repeat(Math.floor(bytes / 3))}[]]}}`;
const filled = (mark: string): string => `{"input":{"s":"${mark}${'x'.repeat(AT_ONCE_MAX_CHARACTERS)}"}}`;

const refusalOf = async (reading: Promise<unknown>): Promise<PlatformError> => {
  const error: unknown = await reading.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PlatformError);
  return error as PlatformError;
};

describe('a body of 20 MiB that is costly to read', () => {
  test('is read while the router’s own thread goes on, which parses nothing of it', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    const body = bomb(20 * MIB);
    const seen = { isRead: false, turns: 0 };
    const reading = bodiesOf(SOURCE_THREAD)
      .job(body, 'attacker')
      .finally(() => (seen.isRead = true));
    while (!seen.isRead) {
      await systemClock.sleep(1);
      seen.turns += 1;
    }
    expect((await reading).input.length).toBe(body.length - '{"input":}'.length);
    expect(seen.turns).toBeGreaterThan(10);
    expect(parse).not.toHaveBeenCalled();
  });

  test('fails alone when it ends the thread: the next body has a new one', async () => {
    const bodies = bodiesOf(STALLING_THREAD);
    const readings = [bodies.job(filled('DIE'), 'attacker'), bodies.job(filled('LIVE'), 'victim')] as const;
    expect(await refusalOf(readings[0])).toMatchObject({ code: 'service-unavailable', retryAfterSeconds: 1 });
    expect((await readings[1]).input).toContain('LIVE');
  });

  test('is given up after 10 s', async () => {
    const bodies = bodiesOf(STALLING_THREAD);
    const stalled = refusalOf(bodies.job(filled('STALL'), 'attacker'));
    const next = bodies.job(filled('LIVE'), 'attacker');
    await clock.advance(READ_MAX_MS);
    expect(await stalled).toMatchObject({ code: 'invalid-job-request' });
    expect((await next).input).toContain('LIVE');
  });

  test('starves no other account: its body is read after one of the attacker’s, not after all', async () => {
    const bodies = bodiesOf(SOURCE_THREAD);
    const order: string[] = [];
    const read = async (name: string): Promise<void> => {
      await bodies.job(filled(name), name);
      order.push(name);
    };
    await Promise.all(['attacker', 'attacker', 'attacker', 'victim', 'victim'].map(read));
    expect(order).toEqual(['attacker', 'victim', 'attacker', 'victim', 'attacker']);
  });

  test('waits for the thread in bounded memory: an account may have half of 512 MiB there alone, and others still have room', async () => {
    const bodies = bodiesOf(STALLING_THREAD);
    const stalled = refusalOf(bodies.job(filled('STALL'), 'attacker'));
    const large = `{"input":{"s":"${'x'.repeat(20 * MIB)}"}}`;
    const waiting = Array.from({ length: 12 }, () => bodies.job(large, 'attacker'));
    expect(await refusalOf(bodies.job(large, 'attacker'))).toMatchObject({
      code: 'service-unavailable',
      retryAfterSeconds: 1,
    });
    const victims = bodies.job(large, 'victim');
    await clock.advance(READ_MAX_MS);
    await stalled;
    expect((await victims).input.length).toBeGreaterThan(20 * MIB);
    await Promise.all(waiting);
  });
});

describe('a body that is read in the thread', () => {
  const pad = `"pad":"${'x'.repeat(AT_ONCE_MAX_CHARACTERS)}"`;

  test.each<[string, string, [code: string, errors: unknown]]>([
    ['is not JSON', `{"input":{${pad}}`, ['body-not-json', undefined]],
    ['is a list', `[{${pad}}]`, ['invalid-job-request', ['$: must be an object']]],
    [
      'has faults',
      `{"input":[{${pad}}],"policy":{"ttl":1}}`,
      [
        'invalid-job-request',
        ['$.input: must be an object', '$.policy.ttl: must be an integer from 10000 to 604800000 (milliseconds)'],
      ],
    ],
    [
      'names a private webhook',
      `{"input":{${pad}},"webhook":"http://10.1.2.3/"}`,
      ['invalid-job-request', [expect.stringContaining('$.webhook: must not go to 10.1.2.3')]],
    ],
    ['has a NaN', `{"input":{"n":NaN,${pad}}}`, ['body-not-json', undefined]],
    [
      'is nested a million levels deep and more',
      `{"input":{"a":${'['.repeat(MIB)}${']'.repeat(MIB)}}}`,
      ['invalid-job-request', ['The body is nested more than 1000000 levels deep.']],
    ],
    [
      'has hundreds of thousands of members',
      `{${Array.from({ length: 300_000 }, (_, n) => `"${n.toString(36)}":0`).join(',')},"input":{}}`,
      ['invalid-job-request', ['$: the members beside "input" may take at most 65536 bytes']],
    ],
    [
      'has a policy that is costly to read',
      `{"input":{},"policy":[${'[],'.repeat(MIB)}[]]}`,
      ['invalid-job-request', ['$: the members beside "input" may take at most 65536 bytes']],
    ],
    ['is nested deeply and cut', `{"input":{"a":${'['.repeat(900_000)}`, ['body-not-json', undefined]],
  ])('and %s is refused as it would be here', async (_, body, [code, errors]) => {
    const refusal = await refusalOf(bodiesOf(SOURCE_THREAD).job(body, 'a1'));
    expect({ code: refusal.code, errors: refusal.errors }).toEqual({ code, errors });
  });

  test('keeps its text: spaces, numbers, repeated names, `__proto__` and depth', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const input = `{ "n": 1.50, "n": 12345678901234567890,"__proto__": {"a":1}, "ü": "\\u00e9🙂", "d": ${deep} }`;
    const request = await bodiesOf(SOURCE_THREAD).job(`{"input":1, "z":1.0, "input": ${input} }`, 'a1');
    expect(request.input === input).toBe(true);
    expect(request.extras).toBe('{"z":1.0}');
  });

  test('may name a webhook in a network that the operator has opened', async () => {
    const body = `{"input":{${pad}},"webhook":"http://10.1.2.3/"}`;
    const bodies = bodiesOf(SOURCE_THREAD, ['10.0.0.0/8']);
    expect((await bodies.job(body, 'a1')).webhook).toBe('http://10.1.2.3/');
  });

  test('may be a list, or of an OpenAI client', async () => {
    const bodies = bodiesOf(SOURCE_THREAD);
    const requests = await bodies.batch(`{"requests":[{"input":{"n":1.0}},{"input":{${pad}}}]}`, 'a1');
    expect(requests.map(({ input }) => input)).toEqual(['{"n":1.0}', `{${pad}}`]);
    const openAi = { method: 'POST', url: '/v2/e/openai/v1/x', body: `{"stream":true,${pad}}` };
    expect(await bodies.openAi(openAi, 'a1')).toEqual({
      input: `{"openai_route":"/v1/x","openai_input":{"stream":true,${pad}}}`,
      isStreamed: true,
    });
  });

  test('hears to try again when the router stops', async () => {
    const bodies = bodiesOf(STALLING_THREAD);
    const stalled = refusalOf(bodies.job(filled('STALL'), 'a1'));
    await bodies.close();
    expect(await stalled).toMatchObject({ code: 'service-unavailable' });
    expect(await refusalOf(bodies.job(filled('LIVE'), 'a1'))).toMatchObject({ code: 'service-unavailable' });
  });
});

test('a body of 64 KiB is read at once, without a thread', async () => {
  const bodies = bodiesOf({ entry: new URL('./no-thread.js', import.meta.url) });
  const body = `{"input":{"s":"${'x'.repeat(AT_ONCE_MAX_CHARACTERS - 18)}"}}`;
  expect(body.length).toBe(AT_ONCE_MAX_CHARACTERS);
  expect((await bodies.job(body, 'a1')).input.length).toBe(body.length - '{"input":}'.length);
});
