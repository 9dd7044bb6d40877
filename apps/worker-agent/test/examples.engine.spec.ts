import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { useContainerEngine } from '@berth/testing/containers';
import { beforeAll, expect, test } from '@jest/globals';
import Dockerode from 'dockerode';
import { EXAMPLES, TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import { W1, W2 } from './worker-bench.js';

const BUILD_TIMEOUT_MS = 300_000;
const IMAGE = 'local/python-echo:latest';

/** Posts a result for somebody else's job: without a token, with a made-up one, and with the container's own. */
const THEFT = `
import os, sys, urllib.error, urllib.request
url = os.environ["RUNPOD_WEBHOOK_POST_OUTPUT"].replace("$ID", sys.argv[1])
def post(token):
    request = urllib.request.Request(url, data=b'{"output": "stolen"}', method="POST")
    if token is not None: request.add_header("Authorization", token)
    try:
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code
print(f"without a token {post(None)}, with a made-up one {post('a' * 40)}")
post(os.environ["RUNPOD_AI_API_KEY"])
`;

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

test(
  'a container that shows no token, another’s or a made-up one is refused at the bridge',
  async () => {
    const engine = new Dockerode({ socketPath: fixture.engine.socketPath });
    start({ BERTH_RUNTIME: 'docker', BERTH_DOCKER_SOCKET: fixture.engine.socketPath });
    control.desired = [exampleWorker(W1, IMAGE), exampleWorker(W2, IMAGE)];
    await phase(W1, 'idle');
    await phase(W2, 'idle');
    const jobId = submit({ sleep: 5, message: 'mine' });
    const takenBy = await eventually(() => {
      const [busy] = [W1, W2].filter((workerId) => control.observed(workerId)?.phase === 'busy');
      if (busy === undefined) throw new Error('nobody has the job yet');
      return busy;
    });
    const thief = takenBy === W1 ? W2 : W1;
    const container = engine.getContainer(`berth-${thief}`);
    const running = await container.exec({ Cmd: ['/opt/venv/bin/python', '-c', THEFT, jobId], AttachStdout: true });
    const answer = await running.start({});
    let text = '';
    for await (const bytes of answer) text += String(bytes);
    expect(text).toContain('without a token 401, with a made-up one 401');
    // Its own token is good, and gives nothing away: the job is not its own.
    expect(await endOf(jobId)).toMatchObject({ output: { echo: { message: 'mine' } } });
  },
  TEST_TIMEOUT_MS,
);
