import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { candidatesOf, hostsAddressesOf, parseSearchList } from './resolver-files.js';
import { SystemNameLookup } from './system-name-lookup.js';

const TYPE_A = 1;
const NXDOMAIN = 3;

/** Answers questions for an IPv4 address from `zone`, and none at all below `dead.test`. */
class NameServer {
  readonly asked: string[] = [];
  readonly #zone: Readonly<Record<string, readonly number[]>>;
  readonly #socket: Socket = createSocket('udp4');

  constructor(zone: Readonly<Record<string, readonly number[]>>) {
    this.#zone = zone;
    this.#socket.on('message', (question, { port }) => {
      const answer = this.#answerTo(question);
      if (answer !== null) this.#socket.send(answer, port, '127.0.0.1');
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#socket.bind(0, '127.0.0.1', resolve));
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.close(resolve);
    });
  }

  #answerTo(question: Buffer): Buffer | null {
    const { name, end } = nameIn(question, 12);
    const type = question.readUInt16BE(end);
    if (type === TYPE_A) this.asked.push(name);
    if (name.endsWith('dead.test')) return null;
    const address = this.#zone[name];
    const head = Buffer.from(question.subarray(0, end + 4));
    head.writeUInt16BE(address === undefined ? 0x8180 | NXDOMAIN : 0x8180, 2);
    head.writeUInt16BE(type === TYPE_A && address !== undefined ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    if (type !== TYPE_A || address === undefined) return head;
    return Buffer.concat([head, Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address])]);
  }
}

function nameIn(message: Buffer, from: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = from;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

describe('what the system resolves', () => {
  let folder: string;
  let server: NameServer;
  let names: SystemNameLookup;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-names-'));
    const [hostsFile, resolverFile] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
    await writeFile(hostsFile, '# names here\n192.0.2.1\tLab-Host lab # a comment\nfd00::1 lab\n192.0.2.2 over.test\n');
    await writeFile(resolverFile, 'search apps.svc.test svc.test\noptions ndots:5\n');
    server = new NameServer({
      'hooks.example.test': [192, 0, 2, 10],
      'over.test': [192, 0, 2, 11],
      'hooks.apps.svc.test': [192, 0, 2, 12],
      'hooks.other.svc.test': [192, 0, 2, 13],
    });
    names = new SystemNameLookup({ hostsFile, resolverFile, servers: [await server.start()] });
  });

  afterEach(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  test.each([
    ['a name of the hosts file, with all its addresses', 'lab', ['192.0.2.1', 'fd00::1']],
    ['its other names, in whatever letters they are written there', 'lab-host', ['192.0.2.1']],
    ['the hosts file before the name servers', 'over.test.', ['192.0.2.2']],
    ['a name of the name servers', 'hooks.example.test', ['192.0.2.10']],
    ['a service of the own namespace', 'hooks', ['192.0.2.12']],
    ['a service of another namespace', 'hooks.other', ['192.0.2.13']],
    ['localhost, without being told', 'localhost', ['127.0.0.1', '::1']],
  ])('%s', async (_, name, addresses) => {
    expect(await names.addressesOf(name)).toEqual(addresses);
  });

  test('a name that nobody knows is one, after every place was asked', async () => {
    await expect(names.addressesOf('nobody')).rejects.toThrow('nobody is not known');
    expect(server.asked).toEqual(['nobody.apps.svc.test', 'nobody.svc.test', 'nobody']);
  });

  test('a whole name is not completed', async () => {
    await expect(names.addressesOf('hooks.')).rejects.toThrow('hooks. is not known');
    expect(server.asked).toEqual(['hooks']);
  });

  test('many names that nobody answers for hold up no other', async () => {
    const dead = Array.from({ length: 100 }, (_, n) => names.addressesOf(`n${n}.dead.test.`).catch(() => ['dead']));
    expect(await Promise.race([...dead, names.addressesOf('hooks.example.test.')])).toEqual(['192.0.2.10']);
    expect(new Set((await Promise.all(dead)).flat())).toEqual(new Set(['dead']));
  });

  test("this machine's own name is found as the system finds it", async () => {
    const system = await lookup(hostname(), { all: true });
    expect(await new SystemNameLookup().addressesOf(hostname())).toEqual(
      expect.arrayContaining(system.map(({ address }) => address)),
    );
  });
});

describe('the files', () => {
  test('an empty hosts file has no names, not even an empty one', () => {
    expect(hostsAddressesOf('', '\n\n192.0.2.1\n')).toEqual([]);
  });

  test.each([
    ['nothing', '', { domains: [], dotsMin: 1 }],
    ['the last list', 'search a b\nsearch c\n', { domains: ['c'], dotsMin: 1 }],
    ['a domain', 'domain x.test\n; options ndots:3', { domains: ['x.test'], dotsMin: 1 }],
    ['options', 'options timeout:1 ndots:99\nsearch .', { domains: [], dotsMin: 15 }],
  ])('a resolver file with %s', (_, text, expected) => {
    expect(parseSearchList(text)).toEqual(expected);
  });

  test('a name with enough dots is asked for as it is first', () => {
    expect(candidatesOf('a.b', { domains: ['c'], dotsMin: 1 })).toEqual(['a.b', 'a.b.c']);
    expect(candidatesOf('a', { domains: ['c'], dotsMin: 1 })).toEqual(['a.c', 'a']);
  });
});
