import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { allocatePorts } from '@berth/servers';
import { eventually, useContainerEngine } from '@berth/testing';
import { StackClient } from '../src/management-client.js';
import { connectTo, greetingInTheClear, refusedSubjects, type BrokerDoor } from './compose/broker-callers.js';
import { ComposedStack, IMAGE_USER, type Inspected } from './compose/composed-stack.js';
import type { ComposePorts } from './compose/override.js';
import { clientPython, driveOfficialClient } from './stack/official-client.js';

jest.setTimeout(600_000);
/** The first run on a machine fetches and builds all that the images are made of. */
const BUILD_MS = 2_400_000;
const WAIT = { deadlineMs: 180_000, intervalMs: 500 };
const CALL_MS = 120_000;
const IMAGE = 'local/python-echo:latest';
const ONE_SHOT = '/berth-migrate-1';
const AGENT = '/berth-worker-agent-1';

const fixture = useContainerEngine({ hasBaseImage: true });

interface Job {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
}

// Nested, so that all of it is gone before its engine, on failure too.
describe('deploy/compose', () => {
  let ports: ComposePorts;
  let stack: ComposedStack;
  let apiKey: string;
  let client: StackClient;
  let endpointId: string;

  const url = (port: number, path: string): string => `http://127.0.0.1:${String(port)}/v2${path}`;
  const api = (path: string): string => url(ports.apis[0], path);
  const door = (): BrokerDoor => ({ port: ports.brokers[0], authority: join(stack.installation, 'tls/ca.crt') });

  beforeAll(async () => {
    const reservation = await allocatePorts(10);
    const [one, two, three, apiOne, apiTwo, routerOne, routerTwo, tunnelOne, tunnelTwo, agentOperations] =
      reservation.ports as readonly [number, number, number, number, number, number, number, number, number, number];
    ports = {
      brokers: [one, two, three],
      apis: [apiOne, apiTwo],
      routers: [routerOne, routerTwo],
      tunnels: [tunnelOne, tunnelTwo],
      agentOperations,
    };
    stack = await ComposedStack.build(fixture.engine, ports);
    await clientPython();
    await reservation.release();
  }, BUILD_MS);
  afterAll(async () => {
    await stack?.remove();
    await stack?.forget();
  }, BUILD_MS);

  test('an installation is made by the command in its image, which shows the first key once', async () => {
    const plan = ['--brokers', '3', '--listen', '0.0.0.0', '--seen-at', '/etc/berth', '--storage-gib', '4'];
    const urls = [
      '--base-url',
      `http://127.0.0.1:${ports.apis[0]}`,
      '--run-url',
      `http://127.0.0.1:${ports.routers[0]}`,
    ];
    const said = await stack.berth('init', '/etc/berth', ...plan, ...urls, '--json');
    const { firstKey } = JSON.parse(said) as { readonly firstKey: string };
    expect(firstKey).toMatch(/^bk_/);
    apiKey = firstKey;
    client = new StackClient(apiKey);
    const again = await stack.berth('init', '/etc/berth', '--json');
    expect(JSON.parse(again)).toMatchObject({ firstKey: null, written: [], replaced: [] });
  });

  test('everything comes up healthy, and each container is confined and bounded', async () => {
    await stack.compose(['up', '--detach', '--wait']);
    const containers = await stack.containers();
    expect(containers.map(({ Name }) => Name)).toHaveLength(10);
    for (const container of containers) expect([container.Name, flawsOf(container)]).toEqual([container.Name, []]);
  });

  test('a host joins with a token, as a container of the same file', async () => {
    const { token } = await client.post<{ readonly token: string }>(api('/hosts/join-tokens'), {
      name: 'this-machine',
    });
    await stack.compose(['--profile', 'agent', 'up', '--detach', '--wait'], { BERTH_JOIN_TOKEN: token });
    const agent = (await stack.containers()).filter(({ Name }) => Name === AGENT);
    expect(agent.map(flawsOf)).toEqual([[]]);
  });

  test('the published client runs a first job', async () => {
    const wish = {
      name: 'first',
      type: 'QUEUE',
      image: IMAGE,
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: 0, max: 2 },
    };
    ({ id: endpointId } = await client.post<{ readonly id: string }>(api('/serverless'), wish));
    const runUrl = `http://127.0.0.1:${String(ports.routers[0])}`;
    const report = await driveOfficialClient({ runUrl, apiKey }, endpointId);
    expect(report).toMatchObject({ status: 'COMPLETED', output: { echo: { message: 'ahoy' } } });
  });

  test('the broker refuses who has no login, who speaks in the clear, and a host beyond its subjects', async () => {
    await expect(connectTo(door())).rejects.toThrow(/Authorization Violation/i);
    expect(await greetingInTheClear(door())).not.toMatch(/INFO|PONG|\+OK/);
    const identity = await stack.docker('exec', AGENT.slice(1), 'cat', '/var/lib/berth/identity.json');
    const { hostId, secret } = JSON.parse(identity) as { readonly hostId: string; readonly secret: string };
    const host = await connectTo(door(), { user: hostId, pass: secret });
    const foreign = ['agents.other.up.job.take', 'log.0.e', '$JS.API.STREAM.DELETE.LOG_0', '$SYS.REQ.SERVER.PING'];
    expect(await refusedSubjects(host, foreign)).toEqual(foreign);
  });

  test('without one broker and one router a job runs to its end', async () => {
    await stack.compose(['kill', '--signal', 'SIGKILL', 'broker-2', 'job-router-1']);
    const job = await client.post<Job>(
      url(ports.routers[1], `/${endpointId}/runsync?wait=90000`),
      { input: { message: 'on' } },
      CALL_MS,
    );
    expect(job).toMatchObject({ status: 'COMPLETED' });
  });

  test('what was done before all was taken down is there when all is up again', async () => {
    const before = await client.post<Job>(url(ports.routers[1], `/${endpointId}/run`), { input: { message: 'kept' } });
    const ask = (): Promise<Job> => client.get<Job>(url(ports.routers[0], `/${endpointId}/status/${before.id}`));
    const untilDone = async (at: number): Promise<Job> => {
      const job = await client.get<Job>(url(at, `/${endpointId}/status/${before.id}`));
      expect(job.status).toBe('COMPLETED');
      return job;
    };
    await eventually(() => untilDone(ports.routers[1]), WAIT);
    await stack.compose(['--profile', 'agent', 'down']);
    expect(await stack.containers()).toEqual([]);
    await stack.compose(['--profile', 'agent', 'up', '--detach', '--wait']);
    expect(await ask()).toMatchObject({ id: before.id, status: 'COMPLETED', output: { echo: { message: 'kept' } } });
    const job = await client.post<Job>(
      url(ports.routers[0], `/${endpointId}/runsync?wait=90000`),
      { input: { message: 'on' } },
      CALL_MS,
    );
    expect(job).toMatchObject({ status: 'COMPLETED' });
  });

  test('nothing of it is left in the engine once it is removed', async () => {
    await stack.remove();
    expect(await stack.leftovers()).toEqual([]);
  });
});

/** What a container of the file may not lack, by name; the agent runs as root, because it sets the firewall. */
function flawsOf({ Config, HostConfig, Name, State }: Inspected): readonly string[] {
  const isOneShot = Name === ONE_SHOT;
  const isOurs = Config.Labels['org.opencontainers.image.title'] !== undefined;
  const bindings = Object.values(HostConfig.PortBindings ?? {}).flat();
  const rules: Readonly<Record<string, boolean>> = {
    state: isOneShot ? State.Status === 'exited' : State.Health?.Status === 'healthy',
    user: Config.User === (Name === AGENT ? '0:0' : `${IMAGE_USER}:${IMAGE_USER}`),
    'read-only root': HostConfig.ReadonlyRootfs,
    'no capabilities': HostConfig.CapDrop?.includes('ALL') === true,
    'no new privileges': HostConfig.SecurityOpt?.includes('no-new-privileges:true') === true,
    limits: (HostConfig.Memory > 0 || Name === AGENT) && HostConfig.NanoCpus > 0 && (HostConfig.PidsLimit ?? 0) > 0,
    restart: HostConfig.RestartPolicy.Name !== 'no',
    loopback: bindings.every(({ HostIp }) => HostIp === '127.0.0.1'),
    version: !isOurs || /^\d+\.\d+\.\d+$/.test(Config.Labels['org.opencontainers.image.version'] ?? ''),
    licence: !isOurs || Config.Labels['org.opencontainers.image.licenses'] === 'Apache-2.0',
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}
