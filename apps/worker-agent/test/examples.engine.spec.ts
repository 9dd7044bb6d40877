import { join } from 'node:path';
import { eventually, useContainerEngine } from '@berth/testing';
import { beforeAll, expect, test } from '@jest/globals';
import Dockerode from 'dockerode';
import { EXAMPLES, TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import { W1 } from './worker-bench.js';

const BUILD_TIMEOUT_MS = 300_000;
const IMAGE = 'local/python-echo:latest';

const fixture = useContainerEngine({ hasBaseImage: true });
const { control, endOf, phase, start, submit } = useAgents();

beforeAll(() => {
  const folder = join(EXAMPLES, 'python-echo');
  return fixture.engine.buildImage(IMAGE, folder, { BASE: 'berth/python-base:bookworm' });
}, BUILD_TIMEOUT_MS);

test(
  'a container on the official SDK takes jobs from its host, is found again after the agent was killed, and leaves with it',
  async () => {
    const settings = { BERTH_RUNTIME: 'docker', BERTH_DOCKER_SOCKET: fixture.engine.socketPath };
    const engine = new Dockerode({ socketPath: fixture.engine.socketPath });
    const first = start(settings);
    control.desired = [exampleWorker(W1, IMAGE)];
    await phase(W1, 'idle');
    expect(await endOf(submit({ message: 'ahoy' }))).toMatchObject({ output: { echo: { message: 'ahoy' } } });
    const { Id } = await engine.getContainer('berth-w1').inspect();
    const slow = submit({ sleep: 10, message: 'slow' });
    await phase(W1, 'busy');
    await first.end('SIGKILL');

    const second = start(settings);
    expect(await endOf(slow)).toMatchObject({ output: { echo: { message: 'slow' } } });
    expect((await engine.getContainer('berth-w1').inspect()).Id).toBe(Id);
    expect(control.router.losses).toEqual([]);
    expect(await second.end('SIGTERM')).toBe(0);
    await eventually(async () => expect(await engine.listContainers({ all: true })).toEqual([]));
  },
  TEST_TIMEOUT_MS,
);
