import type { EndpointId } from '@berth/domain';
import { SHARED_USER, eventually, useNatsServer } from '@berth/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LogProgram } from './log-program.js';
import { LogScene } from './log-scene.js';

/** Whether anybody but the roles of a stack is let in is the broker's affair: here whoever knows the password is. */
const nats = useNatsServer({ access: 'password' });
const ENDPOINT = 'ep' as EndpointId;
const TIMEOUT_MS = 120_000;
let scene: LogScene;

beforeAll(async () => {
  scene = await LogScene.over(await nats.connect(SHARED_USER));
  await scene.submit(ENDPOINT);
});
afterAll(() => scene.stop());

/** With the settings that a router has. */
const tool = (...args: readonly string[]): LogProgram => {
  const { pass, user } = SHARED_USER;
  const settings = { BERTH_NATS_URL: nats.server.url, BERTH_NATS_USER: user, BERTH_NATS_PASSWORD: pass };
  return new LogProgram(settings, ...args);
};

test(
  'the program prints to a pipe, and its status says whether the log is whole',
  async () => {
    const shown = tool(ENDPOINT);
    expect([await shown.status(), shown.complaint]).toEqual([0, '']);
    expect(shown.lines).toHaveLength(7);
    expect(shown.lines.at(-1)).toMatch(/^WHOLE: 2 batches/);
    const wrong = tool(ENDPOINT, '--unknown');
    expect([await wrong.status(), wrong.output]).toEqual([2, '']);
    expect(wrong.complaint).toBe("log: Unknown option '--unknown'. --help lists the options.\n");
    const sequence = await scene.litter(ENDPOINT);
    const broken = tool(ENDPOINT, '--check');
    expect([await broken.status(), broken.lines.at(-1)]).toEqual([
      1,
      `What would be lost without it: --skip ${sequence}`,
    ]);
    const repaired = tool(ENDPOINT, '--skip', `${sequence}`, '--yes');
    expect([await repaired.status(), repaired.complaint]).toEqual([0, '']);
  },
  TIMEOUT_MS,
);

test(
  'following ends with Ctrl-C, in a verdict',
  async () => {
    const following = tool(ENDPOINT, '--follow', '--json');
    await eventually(() => expect(following.output).toContain('submitted'), { deadlineMs: 60_000 });
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
    await eventually(() => expect(following.output).toContain('submitted'), { deadlineMs: 60_000 });
    following.hangUp();
    await scene.submit(ENDPOINT);
    expect([await following.status(), following.complaint]).toEqual([2, '']);
  },
  TIMEOUT_MS,
);
