import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { TRY_TIMEOUT_MS } from '@berth/domain';
import { ManualClock, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WebhookAddresses } from '../platform/index.js';
import { WebhookTransport, type Receipt } from './webhook-transport.js';

let clock: ManualClock;
let server: Server;
let port: number;
let asked: string[];
let looked: string[];
let addressesOf: (name: string) => Promise<readonly string[]>;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  clock = new ManualClock();
  asked = [];
  looked = [];
  answer = (_, response) => response.end();
  addressesOf = async () => ['127.0.0.1'];
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const post = (url: string, allowed: readonly string[] = ['127.0.0.0/8']): Promise<Receipt> => {
  const names = {
    addressesOf: (name: string) => {
      looked.push(name);
      return addressesOf(name);
    },
  };
  const transport = new WebhookTransport({ addresses: new WebhookAddresses(allowed), names, clock });
  return transport.post({ url, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') });
};

const local = (path = '/hook'): string => `http://127.0.0.1:${port}${path}`;

describe('a request to a receiver', () => {
  test.each([200, 201, 204, 299])('%i is success', async (status) => {
    answer = (_, response) => response.writeHead(status).end();
    expect(await post(local())).toEqual({ kind: 'delivered', isSuccess: true, statusCode: status, error: null });
  });

  test.each([400, 404, 410, 429, 500, 503])(
    '%i is none; what it says stands in the log, short and on one line',
    async (status) => {
      answer = (_, response) => response.writeHead(status).end(`no\n\u001b[31m${'x'.repeat(10_000)}`);
      const receipt = await post(local());
      expect(receipt).toMatchObject({ kind: 'refused', isSuccess: false, statusCode: status });
      expect(receipt.error).toMatch(new RegExp(`^answered ${status}: no \\[31mx+$`));
      expect(receipt.error?.length).toBeLessThan(250);
    },
  );

  test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    answer = (_, response) => response.writeHead(status, { location: local('/elsewhere') }).end();
    expect(await post(local())).toMatchObject({ kind: 'redirected', isSuccess: false, statusCode: status });
    expect(asked).toEqual([`POST 127.0.0.1:${port} /hook`]);
  });

  test('an answer without an end is read a little, and its status counts', async () => {
    answer = (_, response) => {
      response.writeHead(200);
      const fill = (): void => {
        if (!response.destroyed) response.write('x'.repeat(65_536), fill);
      };
      response.on('error', () => undefined);
      fill();
    };
    expect(await post(local())).toMatchObject({ kind: 'delivered' });
  });

  test.each([
    ['a WebSocket', 'Connection: Upgrade\r\nUpgrade: websocket\r\n', 'answered 101: no other protocol is spoken'],
    ['a protocol without a name', '', 'answered 101'],
  ])('a switch to %s is none, and its connection is closed', async (_, headers, error) => {
    let socket: Socket | undefined;
    answer = (request) => {
      ({ socket } = request);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\nmore`);
    };
    expect(await post(local())).toEqual({ kind: 'refused', isSuccess: false, statusCode: 101, error });
    await eventually(() => expect(socket?.destroyed).toBe(true));
  });

  test('a connection that closes behind words before an answer has brought none', async () => {
    answer = ({ socket }) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n');
    expect(await post(local())).toMatchObject({ kind: 'unreachable', isSuccess: false, statusCode: null });
  });

  test('nobody there, and nobody who speaks HTTP', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const receipt = await post(local());
    expect(receipt).toMatchObject({ kind: 'unreachable', isSuccess: false, statusCode: null });
    expect(receipt.error).toContain('ECONNREFUSED');
  });

  test('a receiver that does not answer is given up after ten seconds', async () => {
    answer = () => undefined;
    const receipt = post(local());
    await eventually(() => expect(asked).toHaveLength(1));
    await clock.advance(TRY_TIMEOUT_MS);
    expect(await receipt).toMatchObject({ kind: 'timed-out', error: 'no whole answer within 10 s' });
  });

  test('so is a name that nobody answers for', async () => {
    addressesOf = () => new Promise(() => undefined);
    const receipt = post('http://slow.example/');
    await eventually(() => expect(looked).toEqual(['slow.example']));
    await clock.advance(TRY_TIMEOUT_MS);
    expect(await receipt).toMatchObject({ kind: 'timed-out' });
  });
});

describe('the place that it goes to', () => {
  test('is the address that was checked: the name is looked up once, and stays in the host header', async () => {
    expect(await post(`http://hooks.example:${port}/a?b=1`)).toMatchObject({ kind: 'delivered' });
    expect(looked).toEqual(['hooks.example']);
    expect(asked).toEqual([`POST hooks.example:${port} /a?b=1`]);
  });

  test('is none where any address of the name is forbidden, and the log says which', async () => {
    addressesOf = async () => ['127.0.0.1', '10.0.0.7'];
    const receipt = await post(`http://hooks.example:${port}/`);
    expect(receipt).toMatchObject({ kind: 'forbidden-address', isSuccess: false, statusCode: null });
    expect(receipt.error).toBe('the webhook must not go to 10.0.0.7: private addresses are not allowed');
    expect(asked).toEqual([]);
  });

  test('is none for a forbidden address itself, since what is allowed may have changed after the submit', async () => {
    expect(await post(local(), [])).toMatchObject({ kind: 'forbidden-address' });
    expect(asked).toEqual([]);
  });

  test('is none where the name has no address', async () => {
    addressesOf = async () => [];
    expect(await post('http://nothing.example/')).toMatchObject({ kind: 'unreachable' });
    addressesOf = () => Promise.reject(new Error('queryA ENOTFOUND nothing.example'));
    expect((await post('http://nothing.example/')).error).toContain('ENOTFOUND');
  });
});
