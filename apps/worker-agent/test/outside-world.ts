import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ip = (...words: readonly string[]): Promise<unknown> => run('/usr/sbin/ip', words);
const WORLDS_MAX = 200;

/** Answers `outside` over HTTP on every address, and every question for a name with the address of its first argument. */
const PROGRAM = `
const server = require('node:http').createServer((_, response) => response.end('outside'));
const names = require('node:dgram').createSocket('udp4');
names.on('message', (question, { address, port }) => {
  const answer = Buffer.concat([question.subarray(0, 2), Buffer.from('8180000100010000', 'hex'), Buffer.from('0000', 'hex')]);
  let end = 12;
  while (question[end] !== 0) end += question[end] + 1;
  const asked = question.subarray(12, end + 5);
  const found = Buffer.concat([Buffer.from('c00c000100010000003c0004', 'hex'), Buffer.from(process.argv[1].split('.').map(Number))]);
  // Questions for another kind of address have no answer.
  if (asked.readUInt16BE(asked.length - 4) !== 1) answer.writeUInt16BE(0, 6);
  names.send(Buffer.concat([answer, asked, ...(answer.readUInt16BE(6) === 1 ? [found] : [])]), port, address);
});
names.bind(53, process.argv[1], () => server.listen(80, () => console.log('ready')));
`;

/** Another machine beside this one: in a network namespace, with addresses of every kind that a container may try. */
export interface OutsideWorld {
  /** As good as public: it is in no network that is blocked by default. Also a name server. */
  readonly publicAddress: string;
  readonly privateAddress: string;
  readonly carrierAddress: string;
  /** In the range in which clouds tell a machine's credentials. */
  readonly metadataAddress: string;
  /** This machine's address towards it. */
  readonly hostAddress: string;
  remove(): Promise<void>;
}

export async function makeOutsideWorld(): Promise<OutsideWorld> {
  const number = await takeNumber();
  const name = `berth-world${String(number)}`;
  const link = `bwv${String(number)}`;
  const addressIn = (network: string): string => `${network}.${String(number)}`;
  const [publicAddress, metadataAddress, carrierAddress] = ['203.0.113', '169.254.215', '100.64.215'].map(addressIn);
  const [hostAddress, privateAddress] = ['1', '2'].map((host) => `10.215.${String(number)}.${host}`);
  const inside = (...words: readonly string[]): Promise<unknown> => ip('-n', name, ...words);
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'outside', 'netns', name);
  await ip('address', 'add', `${String(hostAddress)}/30`, 'dev', link);
  await ip('link', 'set', link, 'up');
  await inside('address', 'add', `${String(privateAddress)}/30`, 'dev', 'outside');
  for (const each of ['lo', 'outside']) await inside('link', 'set', each, 'up');
  await inside('route', 'add', 'default', 'via', String(hostAddress));
  for (const address of [publicAddress, metadataAddress, carrierAddress]) {
    await inside('address', 'add', `${String(address)}/32`, 'dev', 'lo');
    await ip('route', 'add', `${String(address)}/32`, 'via', String(privateAddress));
  }
  const server = await startServer(name, String(publicAddress));
  return {
    publicAddress: String(publicAddress),
    privateAddress: String(privateAddress),
    carrierAddress: String(carrierAddress),
    metadataAddress: String(metadataAddress),
    hostAddress: String(hostAddress),
    remove: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      // The routes and the addresses go with the link.
      await ip('link', 'delete', link);
      await ip('netns', 'delete', name);
    },
  };
}

/** A namespace's name is taken as a lock. */
async function takeNumber(): Promise<number> {
  for (let number = 1; number <= WORLDS_MAX; number += 1) {
    const isTaken = await ip('netns', 'add', `berth-world${String(number)}`).then(
      () => false,
      () => true,
    );
    if (!isTaken) return number;
  }
  throw new Error('Every number of a world is taken.');
}

async function startServer(name: string, answer: string): Promise<ChildProcess> {
  const words = ['netns', 'exec', name, process.execPath, '--eval', PROGRAM, answer];
  const server = spawn('/usr/sbin/ip', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  return server;
}
