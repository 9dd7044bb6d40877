import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { objectOf, text } from '@berth/domain/shape';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { afterEach, describe, expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../program/index.js';
import { ManagementClient } from './management-client.js';

/** How one request is answered; null: the connection is broken. */
type Script = { readonly status: number; readonly body: string } | null;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const problem = (status: number, code: string, extra: object = {}): Script => ({
  status,
  body: JSON.stringify({ type: `https://api/docs/problems/${code}`, title: 'Title', detail: 'A detail.', ...extra }),
});
const GOOD: Script = { status: 200, body: '{"id":"a","more":1}' };
const SHAPE = objectOf<{ id: string }>({ id: text() });

/** A client of a server that answers by the script, its last line over and over. */
async function scripted(...script: readonly Script[]) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const step = script[Math.min(seen.length, script.length - 1)] ?? null;
    seen.push(request.headers);
    if (step === null) return void request.socket.destroy();
    response.writeHead(step.status).end(step.body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  return {
    seen,
    baseUrl,
    client: new ManagementClient({ baseUrl, apiKey: 'bk_key' }, { clock, random: systemRandom }),
  };
}

const GET = { method: 'GET', path: '/v2/things' } as const;

describe('a call of the management API', () => {
  test('has the key, and its answer as it came', async () => {
    const { client, seen } = await scripted(GOOD);
    expect(await client.ask(GET, SHAPE)).toEqual({ id: 'a', more: 1 });
    expect(seen).toEqual([expect.objectContaining({ authorization: 'Bearer bk_key' })]);
  });

  test.each<[string, Script]>([
    ['a broken connection', null],
    ['a full process', problem(503, 'service-unavailable')],
    ['a proxy without a process', { status: 502, body: '<html>' }],
    ['an earlier try that is at work', problem(409, 'idempotency-in-progress')],
  ])('is made again after %s, under the same idempotency key', async (_, first) => {
    const { client, seen } = await scripted(first, GOOD);
    const call = { method: 'POST', path: '/v2/things', body: {}, idempotencyKey: 'k' } as const;
    expect(await client.ask(call, SHAPE)).toMatchObject({ id: 'a' });
    expect(seen.map((headers) => headers['idempotency-key'])).toEqual(['k', 'k']);
  });

  test('is given up after four tries', async () => {
    const { baseUrl, client, seen } = await scripted(null);
    await expect(client.ask(GET, SHAPE)).rejects.toMatchObject({
      status: EXIT_STATUS.failed,
      message: expect.stringContaining(`${baseUrl}v2/things does not answer`),
    });
    expect(seen).toHaveLength(4);
  });

  test.each([
    [401, 'a key that is in use'],
    [403, 'the scope admin'],
    [404, 'berth host list'],
  ])('that is refused with %d is misuse, with what to do, and not made again', async (status, mend) => {
    const { client, seen } = await scripted(problem(status, 'some-code', { errors: ['$.name: is required'] }));
    await expect(client.ask(GET, SHAPE)).rejects.toMatchObject({
      status: EXIT_STATUS.misused,
      message: 'Title: A detail.\n  $.name: is required',
      mend: expect.stringMatching(new RegExp(`${mend}.*/docs/problems/some-code$`)),
    });
    expect(seen).toHaveLength(1);
  });

  test('says of an answer that is none of ours that it is not', async () => {
    const { client } = await scripted({ status: 200, body: '<html>' });
    await expect(client.ask(GET, SHAPE)).rejects.toThrow('cannot be read: $ must be an object');
  });

  test('that removes has removed where an earlier try did, and its answer was lost', async () => {
    const { client } = await scripted(null, problem(404, 'host-not-found'));
    await expect(client.tell({ method: 'DELETE', path: '/v2/things/a' })).resolves.toBeUndefined();
  });
});
