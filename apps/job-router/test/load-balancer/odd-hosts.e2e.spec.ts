import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { BUCKETS } from '@berth/contracts';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { RouterBench, type Scene } from '../bench/router-bench.js';

const DOMAIN = 'lb.test';
const bench = new RouterBench({ environment: { BERTH_LB_DOMAIN: DOMAIN } });

let scene: Scene;
let spy: NatsConnection;
/** Questions to the broker about endpoints, each with the name that was asked for. */
let asked: string[];
beforeAll(async () => {
  scene = await bench.scene();
  spy = await bench.connect();
  spy.subscribe('$JS.API.>', {
    callback: (_, { data, subject }) => {
      const question = `${subject} ${new TextDecoder().decode(data)}`;
      if (question.includes(BUCKETS.endpoints)) asked.push(question);
    },
  });
  await spy.flush();
});
beforeEach(() => {
  asked = [];
});

/** All that has been asked by now. */
async function questions(): Promise<readonly string[]> {
  await spy.flush();
  return asked;
}

/** The whole answer to a request for that host, on a connection of its own. */
function ask(host: string, key = scene.tenant.key): Promise<string> {
  const socket = connect(Number(new URL(bench.router.url).port), '127.0.0.1');
  const lines = ['GET /a HTTP/1.1', `Host: ${host}`, `Authorization: Bearer ${key}`, 'Connection: close', '', ''];
  socket.write(lines.join('\r\n'), 'latin1');
  return text(socket);
}

/** Only an endpoint that was found has a type. */
const FOUND = /^HTTP\/1\.1 4\d\d [^]*wrong-endpoint-type/;
const UNKNOWN = /^HTTP\/1\.1 404 Not Found\r\n[^]*x-berth-error: endpoint-not-found\r\n[^]*No such endpoint\./i;

describe('a host', () => {
  test.each<[string, (id: string) => string]>([
    ['its own', (id) => `${id}.${DOMAIN}`],
    ['in capitals', (id) => `${id}.${DOMAIN}`.toUpperCase()],
    ['whole, with a dot behind it', (id) => `${id}.${DOMAIN}.`],
    ['with a port', (id) => `${id}.${DOMAIN}:8001`],
    ['with an empty port', (id) => `${id}.${DOMAIN}:`],
    ['whole, with another port', (id) => `${id}.${DOMAIN}.:9`],
  ])('%s, names the endpoint', async (_, hostOf) => {
    expect(await ask(hostOf(scene.endpointId))).toMatch(FOUND);
  });

  test('that names none is asked for once, and is unknown', async () => {
    expect(await ask(`nosuchendpoint.${DOMAIN}`)).toMatch(UNKNOWN);
    expect(await questions()).toEqual([expect.stringContaining('nosuchendpoint')]);
  });

  test.each<[string, (id: string) => string]>([
    ['with a label before it', (id) => `foo.${id}.${DOMAIN}`],
    ['with a label behind it', (id) => `${id}.foo.${DOMAIN}`],
    ['with two dots behind the id', (id) => `${id}..${DOMAIN}`],
    ['with a dot before it', (id) => `.${id}.${DOMAIN}`],
    ['of dots', () => `...${DOMAIN}`],
    ['of a star', () => `*.${DOMAIN}`],
    ['of a sign that stands for all', () => `>.${DOMAIN}`],
    ['of a star behind a dot', (id) => `${id}.*.${DOMAIN}`],
    ['of no ASCII', () => `b\xfccher.${DOMAIN}`],
    ['of 6,000 characters', () => `${'a'.repeat(6_000)}.${DOMAIN}`],
    ['of an IPv6 address', () => `[::1].${DOMAIN}`],
    ['of a dollar', () => `$js.${DOMAIN}`],
    ['of a path', () => `../${DOMAIN}.${DOMAIN}`],
    ['with a space', (id) => `a ${id}.${DOMAIN}`],
    ['with a percent sign', (id) => `${id}%2e.${DOMAIN}`],
  ])('%s, is unknown, and the broker is asked for nothing', async (_, hostOf) => {
    expect(await ask(hostOf(scene.endpointId))).toMatch(UNKNOWN);
    expect(await questions()).toEqual([]);
  });

  test.each([DOMAIN, `.${DOMAIN}`, '[::1]', '[::1]:8001', '::1', '127.0.0.1', `${DOMAIN}.`, ''])(
    '%j is none of an endpoint, and the edge answers',
    async (host) => {
      const answer = await ask(host);
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer).not.toMatch(/x-berth-error/i);
      expect(await questions()).toEqual([]);
    },
  );

  test('of words that look like a name in another script is asked for as it is written', async () => {
    expect(await ask(`xn--bcher-kva.${DOMAIN}`)).toMatch(UNKNOWN);
    expect(await questions()).toEqual([expect.stringContaining('xn--bcher-kva')]);
  });

  test('of any kind is answered as a wrong key is, to whoever has none', async () => {
    for (const host of [`${scene.endpointId}.${DOMAIN}`, `a.b.${DOMAIN}`, `>.${DOMAIN}`])
      expect(await ask(host, 'nobody')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await questions()).toEqual([]);
  });
});
