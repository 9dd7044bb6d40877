import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { useManagementApi } from './management-bench.js';

const COMMAND_TIMEOUT_MS = 20_000;
const COMMAND = resolve('apps/berth/dist/main.js');

const bench = useManagementApi();

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command as an operator would. */
const berth = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  new Promise((done, failed) => {
    const env = { BERTH_BASE_URL: bench.url, BERTH_API_KEY: bench.operatorKey, ...environment };
    const options = { env, timeout: COMMAND_TIMEOUT_MS };
    execFile(process.execPath, [COMMAND, 'host', ...args], options, (error, stdout, stderr) => {
      if (error === null) done({ status: 0, stdout, stderr });
      else if (typeof error.code === 'number') done({ status: error.code, stdout, stderr });
      else failed(new Error('The command was not run to its end.', { cause: error }));
    });
  });

describe('berth host', () => {
  test('join makes a token, and says what to start with it', async () => {
    const agents = { BERTH_AGENT_NATS_URL: 'tls://nats.example.com:4222' };
    const made = await berth(['join', 'gpu-box', '--label', 'rack=7', '--data-center', 'EU-1', '--json'], agents);
    expect(made).toMatchObject({ status: 0, stderr: '' });
    const { environment, hostId, token } = JSON.parse(made.stdout);
    expect(environment).toEqual({ BERTH_NATS_URL: agents.BERTH_AGENT_NATS_URL, BERTH_JOIN_TOKEN: token });
    expect((await bench.call(`GET /v2/hosts/${String(hostId)}`)).body).toMatchObject({
      name: 'gpu-box',
      dataCenterId: 'EU-1',
      labels: { rack: '7' },
    });
    const { stdout } = await berth(['join', 'other'], agents);
    expect(stdout).toContain('BERTH_NATS_URL=tls://nats.example.com:4222 \\\n');
    expect(stdout).toMatch(/BERTH_JOIN_TOKEN=bjt_\w+ \\\n/);
    expect(stdout).toContain('NODE_EXTRA_CA_CERTS=');
  });

  test('lists, shows, cordons, drains and removes', async () => {
    const { hostId } = JSON.parse((await berth(['join', 'passing', '--json'])).stdout);
    expect((await berth(['list'])).stdout).toMatch(
      new RegExp(`${String(hostId)} +passing +LOCAL-1 +ready, offline +never`),
    );
    expect((await berth(['cordon', hostId])).stdout).toBe(`${String(hostId)} is cordoned, offline.\n`);
    expect((await berth(['drain', hostId])).stdout).toBe(`${String(hostId)} is draining, offline.\n`);
    expect((await berth(['show', hostId])).stdout).toMatch(/state +draining, offline\n/);
    expect((await berth(['uncordon', hostId])).stdout).toBe(`${String(hostId)} is ready, offline.\n`);
    expect(await berth(['remove', hostId])).toMatchObject({ status: 0 });
    expect(await bench.call(`GET /v2/hosts/${String(hostId)}`)).toMatchObject({ status: 404 });
  });

  test('says in a sentence why not, and what to do', async () => {
    const gone = await berth(['show', 'nope']);
    expect(gone).toMatchObject({ status: 2, stdout: '' });
    expect(gone.stderr).toMatch(/^berth: Host not found.*\n.*berth host list.*host-not-found\n$/);
    expect(await berth(['list'], { BERTH_API_KEY: await bench.newAccount() })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('scope admin'),
    });
    expect((await berth(['join', ''])).stderr).toContain('$.name');
    expect(await berth(['list'], { BERTH_API_KEY: '' })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('BERTH_API_KEY is missing'),
    });
  });
});
