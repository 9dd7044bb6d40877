import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { allocatePorts } from '@berth/servers';
import { eventually } from '@berth/testing';
import { useContainerEngine } from '@berth/testing/containers';
import { StackClient } from '../src/management-client.js';
import { connectTo, greetingInTheClear, refusedSubjects, type BrokerDoor } from './compose/broker-callers.js';
import { ComposedStack } from './compose/composed-stack.js';
import { AGENT, flawsOf } from './compose/flaws.js';
import { PORT_COUNT, portsOf, type ComposePorts } from './compose/override.js';
import { commandsOf } from './compose/page-commands.js';
import { clientPython, driveOfficialClient } from './stack/official-client.js';

jest.setTimeout(300_000);
/** The first run on a machine builds Compose, and Debian. */
const PREPARE_MS = 1_800_000;
const WAIT = { deadlineMs: 120_000, intervalMs: 300 };
const CALL_MS = 120_000;
const GIB = 1024 ** 3;
/** Of work, in each job that runs while something is killed. */
const SECONDS = 3;

const fixture = useContainerEngine({ hasBaseImage: true, isInMemory: true });

interface Job {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
}

/** A line of what `berth log` says. */
interface LogLine {
  readonly type: string;
  readonly kind?: string;
  readonly jobId?: string | null;
  readonly verdict?: string;
}

// Nested, so that all of it is gone before its engine, on failure too.
describe('the page of deploy/compose', () => {
  let ports: ComposePorts;
  let stack: ComposedStack;
  let KEY = '';
  let client: StackClient;
  let endpointId = '';
  /** Of jobs whose results are kept for longer than this takes. */
  const submitted: string[] = [];

  const url = (port: number, path: string): string => `http://127.0.0.1:${String(port)}/v2${path}`;
  const jobUrl = (router: 0 | 1, path: string): string => url(ports.routers[router], `/${endpointId}${path}`);
  const door = (): BrokerDoor => ({ port: ports.brokers[0], authority: join(stack.installation, 'tls/ca.crt') });

  async function submit(router: 0 | 1): Promise<void> {
    const { id } = await client.post<Job>(jobUrl(router, '/run'), { input: { sleep: SECONDS } });
    submitted.push(id);
  }

  const look = (router: 0 | 1, id: string): Promise<Job> => client.get<Job>(jobUrl(router, `/status/${id}`));

  async function runOne(router: 0 | 1): Promise<Job> {
    return client.post<Job>(jobUrl(router, '/runsync?wait=90000'), { input: { message: 'on' } }, CALL_MS);
  }

  beforeAll(async () => {
    const reservation = await allocatePorts(PORT_COUNT);
    ports = portsOf(reservation.ports);
    stack = await ComposedStack.prepare(fixture.engine, ports);
    await clientPython();
    await reservation.release();
  }, PREPARE_MS);
  afterAll(() => stack?.remove(), PREPARE_MS);

  test('makes an installation with the command in its image, which shows the first key once', async () => {
    const said = await stack.follow('2. An installation');
    [, KEY = ''] = /: (bk_\w+)$/m.exec(said) ?? [];
    expect(KEY).not.toBe('');
    client = new StackClient(KEY);
  });

  test('brings everything up healthy, each container confined and bounded', async () => {
    expect(JSON.parse((await stack.follow('3. Up', { KEY })).trim())).toEqual({ hosts: [] });
    const containers = await stack.containers();
    expect(containers).toHaveLength(10);
    expect(containers.map((each) => [each.Name, flawsOf(each)])).toEqual(containers.map(({ Name }) => [Name, []]));
  });

  test('makes this machine a host, whose memory is more than its agent may have', async () => {
    await stack.follow('4. This machine as a host', { KEY });
    const agent = (await stack.containers()).filter(({ Name }) => Name === AGENT);
    expect(agent.map((each) => [flawsOf(each), each.HostConfig.Memory])).toEqual([[[], GIB]]);
    const { hosts } = await client.get<{ readonly hosts: readonly unknown[] }>(url(ports.apis[1], '/hosts'));
    expect(hosts).toMatchObject([{ name: 'this-machine', isOnline: true }]);
    const { memoryBytes } = (hosts[0] as { readonly inventory: { readonly memoryBytes: number } }).inventory;
    expect(memoryBytes).toBeGreaterThan(GIB);
  });

  test('runs a first job', async () => {
    const [make = '', ask = ''] = commandsOf(stack.said('5. A first job'));
    ({ id: endpointId } = JSON.parse(await stack.run(make, { KEY })) as { readonly id: string });
    const job = JSON.parse(await stack.run(ask.replace('/ENDPOINT/', `/${endpointId}/`), { KEY })) as Job;
    expect(job).toMatchObject({ status: 'COMPLETED', output: { echo: { message: 'ahoy' } } });
  });

  test('serves the published client', async () => {
    const runUrl = `http://127.0.0.1:${String(ports.routers[0])}`;
    const report = await driveOfficialClient({ runUrl, apiKey: KEY }, endpointId);
    expect(report).toMatchObject({ status: 'COMPLETED', output: { echo: { message: 'ahoy' } } });
    expect(report).toMatchObject({ run_sync: { echo: { message: 'in sync' } }, after_cancel: 'CANCELLED' });
  });

  test('has a broker that refuses who has no login, who speaks in the clear, and a host beyond its subjects', async () => {
    await expect(connectTo(door())).rejects.toThrow(/Authorization Violation/i);
    expect(await greetingInTheClear(door())).not.toMatch(/INFO|PONG|\+OK/);
    const identity = await stack.run(`docker exec ${AGENT.slice(1)} cat /var/lib/berth/identity.json`);
    const { hostId, secret } = JSON.parse(identity) as { readonly hostId: string; readonly secret: string };
    const host = await connectTo(door(), { user: hostId, pass: secret });
    const foreign = ['agents.other.up.job.take', 'log.0.e', '$JS.API.STREAM.DELETE.LOG_0', '$SYS.REQ.SERVER.PING'];
    expect(await refusedSubjects(host, foreign)).toEqual(foreign);
  });

  test('loses nothing when one broker and one router are killed while jobs run: each ends once', async () => {
    for (const router of [0, 1, 0, 1, 0, 1] as const) await submit(router);
    await eventually(async () => {
      const jobs = await Promise.all(submitted.map((id) => look(1, id)));
      expect(jobs.map(({ status }) => status)).toContain('IN_PROGRESS');
    }, WAIT);
    await stack.run('docker compose kill --signal SIGKILL broker-2 job-router-1');
    // Refused until another router keeps the endpoint's jobs.
    await eventually(async () => expect(await runOne(1)).toMatchObject({ status: 'COMPLETED' }), WAIT);
    await eventually(async () => {
      const jobs = await Promise.all(submitted.map((id) => look(1, id)));
      expect(jobs.filter(({ status }) => status !== 'COMPLETED')).toEqual([]);
    }, WAIT);
    const said = await stack.run(`docker compose run --rm --no-TTY berth log ${endpointId} --json`);
    const log = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine);
    expect(log.at(-1)).toMatchObject({ type: 'verdict', verdict: 'whole' });
    const ends = log.flatMap(({ jobId, kind }) => (kind === 'finished' ? [jobId] : []));
    expect(submitted.map((id) => ends.filter((jobId) => jobId === id).length)).toEqual(submitted.map(() => 1));
  });

  test('has what was done when all of it was taken down and is up again', async () => {
    const [down = ''] = commandsOf(stack.said('Down, and away'));
    await stack.run(down);
    expect(await stack.containers()).toEqual([]);
    await stack.run('docker compose --profile agent up --detach --wait');
    const jobs = await Promise.all(submitted.map((id) => look(0, id)));
    const done = { status: 'COMPLETED', output: { echo: { sleep: SECONDS } } };
    expect(jobs).toMatchObject(submitted.map((id) => ({ id, ...done })));
    await eventually(async () => expect(await runOne(0)).toMatchObject({ status: 'COMPLETED' }), WAIT);
  });

  test('is replaced process by process, and then well by its own doctor', async () => {
    await stack.follow('Upgrade');
    const [look = ''] = commandsOf(stack.said('When something is wrong'));
    expect(await stack.run(look, { KEY })).not.toMatch(/^WRONG/m);
  });

  test('is put back as it was, into empty servers', async () => {
    await stack.follow('Backup');
    const [file = ''] = await readdir(join(stack.home, 'backups'));
    await stack.run(stack.said('Restore').replace('/FILE', `/${file}`));
    const jobs = await Promise.all(submitted.map((id) => look(1, id)));
    expect(jobs).toMatchObject(submitted.map((id) => ({ id, status: 'COMPLETED' })));
    await eventually(async () => expect(await runOne(1)).toMatchObject({ status: 'COMPLETED' }), WAIT);
  });

  test('leaves nothing in the engine, once its endpoints are deleted', async () => {
    const endpoint = url(ports.apis[0], `/serverless/${endpointId}`);
    await stack.run(`curl --fail --silent -X DELETE ${endpoint} -H "Authorization: Bearer $KEY"`, { KEY });
    const others = "docker ps --all --format '{{.Names}}' | grep -v '^berth-.*-1$' || true";
    await eventually(async () => expect(await stack.run(others)).toBe(''), WAIT);
    const [, away = ''] = commandsOf(stack.said('Down, and away'));
    await stack.run(away);
    expect(await stack.leftovers()).toEqual([]);
  });
});
