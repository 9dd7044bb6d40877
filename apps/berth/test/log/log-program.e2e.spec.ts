import type { EndpointId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LogProgram } from './log-program.js';
import { LogScene } from './log-scene.js';

const nats = useNatsServer({ access: 'roles' });
const ENDPOINT = 'ep' as EndpointId;
const TIMEOUT_MS = 240_000;
let scene: LogScene;

beforeAll(async () => {
  scene = await LogScene.over(await nats.connectAs('router'));
  await scene.submit(ENDPOINT);
});
afterAll(() => scene.stop());

/** With what `env/operator.env` has. */
const tool = (...args: readonly string[]): LogProgram => toolWith({}, ...args);

const toolWith = (more: Readonly<Record<string, string>>, ...args: readonly string[]): LogProgram =>
  new LogProgram({ BERTH_NATS_URL: nats.server.url, BERTH_NATS_SEED: nats.keys.roles.operator, ...more }, ...args);

test(
  'the program prints to a pipe, and its status says whether the log is whole',
  async () => {
    const shown = tool(ENDPOINT);
    expect([await shown.status(), shown.complaint]).toEqual([0, '']);
    expect(shown.lines).toHaveLength(7);
    expect(shown.lines.at(-1)).toMatch(/^WHOLE: 2 batches/);
    const wrong = tool(ENDPOINT, '--unknown');
    expect([await wrong.status(), wrong.output]).toEqual([2, '']);
    expect(wrong.complaint).toContain('berth: Unknown argument: unknown');
    const sequence = await scene.litter(ENDPOINT);
    const broken = tool(ENDPOINT, '--check');
    expect([await broken.status(), broken.lines.at(-1)]).toEqual([
      1,
      `What would be lost without it: --skip ${sequence}`,
    ]);
    const router = { BERTH_ROUTER_SEED: nats.keys.roles.router };
    const repaired = toolWith(router, ENDPOINT, '--skip', `${sequence}`, '--confirm', `${sequence}`);
    expect([await repaired.status(), repaired.complaint]).toEqual([0, '']);
  },
  TIMEOUT_MS,
);

test(
  'following ends with Ctrl-C, in a verdict',
  async () => {
    const following = tool(ENDPOINT, '--follow', '--json');
    await eventually(() => expect(following.output).toContain('submitted'), { deadlineMs: 90_000 });
    const jobId = await scene.submit(ENDPOINT);
    await eventually(() => expect(following.output).toContain(jobId));
    following.signal('SIGINT');
    expect(await following.status()).toBe(0);
    expect(JSON.parse(following.lines.at(-1) ?? '')).toMatchObject({ type: 'verdict', verdict: 'whole' });
  },
  TIMEOUT_MS,
);

test(
  'a reader that hangs up ends the program, without a complaint',
  async () => {
    const following = tool(ENDPOINT, '--follow');
    await eventually(() => expect(following.output).toContain('submitted'), { deadlineMs: 90_000 });
    following.hangUp();
    await scene.submit(ENDPOINT);
    expect([await following.status(), following.complaint]).toEqual([1, '']);
  },
  TIMEOUT_MS,
);
