import { PassThrough, Writable } from 'node:stream';
import { createNatsKeys } from '@berth/broker-access';
import { encodeJson, type EndpointId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { logShard } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logCommand } from '../../src/log/index.js';
import { runProgram } from '../../src/program/index.js';
import { LogScene, PAYLOADS, SECRETS } from './log-scene.js';

/** Everything is read with the operator's key, which the broker lets do nothing else. */
const nats = useNatsServer({ access: 'roles' });
let scene: LogScene;

beforeAll(async () => {
  scene = await LogScene.over(await nats.connectAs('router'));
});
afterAll(() => scene.stop());

const endpointCalled = (name: string): EndpointId => `${name}-${systemRandom.id(8)}` as EndpointId;

/** One run of the command, as far as it has come. */
class Run {
  readonly status: Promise<number>;
  text = '';
  complaint = '';
  /** Ctrl-C. */
  end: () => void = () => undefined;

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = OPERATOR()) {
    const streamOf = (name: 'text' | 'complaint') =>
      new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          this[name] += chunk.toString();
          done();
        },
      });
    this.status = runProgram(['log', ...args], [logCommand], {
      environment,
      streams: { stdout: streamOf('text'), stderr: streamOf('complaint') },
      onInterrupt: (end) => (this.end = end),
    });
  }

  get lines(): readonly string[] {
    return this.text.split('\n').slice(0, -1);
  }
}

/** What `env/operator.env` has. */
const OPERATOR = (): Readonly<Record<string, string>> => ({
  BERTH_NATS_URL: nats.server.url,
  BERTH_NATS_SEED: nats.keys.roles.operator,
});
const WITH_ROUTER = (): Readonly<Record<string, string>> => ({
  ...OPERATOR(),
  BERTH_ROUTER_SEED: nats.keys.roles.router,
});

interface Told {
  readonly status: number;
  readonly text: string;
  readonly lines: readonly string[];
  readonly complaint: string;
}

async function toldAs(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Told> {
  const run = new Run(args, environment);
  const status = await run.status;
  return { status, text: run.text, lines: run.lines, complaint: run.complaint };
}

const told = (...args: readonly string[]): Promise<Told> => toldAs(OPERATOR(), ...args);

/** Two jobs: one fails, the other is purged. */
async function story(name: string): Promise<{ endpointId: EndpointId; failed: string; purged: string }> {
  const endpointId = endpointCalled(name);
  const failed = await scene.submit(endpointId);
  const purged = await scene.submit(endpointId);
  await scene.fail(endpointId, await scene.take(endpointId));
  await scene.purge(endpointId);
  return { endpointId, failed, purged };
}

/** A batch of another endpoint, in the same shard. */
async function neighbourOf(endpointId: EndpointId): Promise<number | undefined> {
  let neighbour = endpointCalled('neighbour');
  while (logShard(neighbour) !== logShard(endpointId)) neighbour = endpointCalled('neighbour');
  await scene.submit(neighbour);
  return (await scene.batches(neighbour)).at(-1)?.sequence;
}

const encode = (...facts: readonly object[]): Uint8Array =>
  new TextEncoder().encode(facts.map((fact) => encodeJson(fact)).join('\n'));

const objectsOf = ({ lines }: Told): Record<string, unknown>[] =>
  lines.map((line) => JSON.parse(line) as Record<string, unknown>);

describe('what is told', () => {
  test('is every batch with its facts, in lines and columns, and that the log is whole', async () => {
    const { endpointId, failed, purged } = await story('lines');
    const { complaint, lines, status, text } = await told(endpointId);
    expect([status, complaint]).toEqual([0, '']);
    const facts = lines.filter((line) => / {3}1 {11}/.test(line)).map((line) => line.trim().split(/ +/).slice(1, 4));
    expect(facts).toEqual([
      ['opened', 'by', 'router-1,'],
      ['submitted', failed, 'run,'],
      ['submitted', purged, 'run,'],
      ['taken', failed, '/1'],
      ['finished', failed, '/1'],
      ['purged', '1', 'job,'],
    ]);
    expect(lines.filter((line) => line.startsWith('#'))).toHaveLength(6);
    expect(lines[3]).toMatch(
      /^#\d+ {2}\d{4}-.+Z {2}router-1 in term 1 {2}after #\d+ {2}1 fact \d+ B {2}batch [0-9a-f-]+$/,
    );
    expect(lines[4]).toMatch(/^ {7}waiting 1; since .+Z; running 0; living 1; due .+Z$/);
    expect(lines.at(-1)).toMatch(/^WHOLE: 6 batches \(#\d+ to #\d+\), 6 facts, 2\.0 KiB; jobs: 1 FAILED$/);
    expect(text).not.toContain('\u001b');
  });

  test('holds no payload unless it is asked for, and no secret ever', async () => {
    const { endpointId } = await story('secrets');
    for (const also of [[], ['--json']]) {
      const plain = await told(endpointId, ...also);
      const whole = await told(endpointId, '--payloads', ...also);
      for (const secret of SECRETS) expect([plain.text, whole.text].join()).not.toContain(secret);
      for (const payload of PAYLOADS) {
        expect(plain.text).not.toContain(payload);
        expect(whole.text).toContain(payload);
      }
    }
    expect((await told(endpointId)).text).toContain(
      'input 12 B, extras 12 B, sealed 13 B, lives 1 d, webhook hooks.example.com, item 1 of 1 under a key',
    );
  });

  test('of one job is what happened to it, also by a rule that names nobody', async () => {
    const { endpointId, failed, purged } = await story('job');
    const { lines } = await told(endpointId, '--job', purged);
    expect(lines.filter((line) => line.startsWith('#'))).toHaveLength(2);
    expect(lines.join('\n')).not.toContain(failed);
    expect(lines.find((line) => line.includes('purged'))).toContain(`${purged} among them`);
    expect(lines.at(-1)).toMatch(/^WHOLE: 6 batches/);
  });

  test('behind a sequence is the rest, and still judged by all of it', async () => {
    const { endpointId } = await story('after');
    const [, , , , fifth] = await scene.batches(endpointId);
    const { lines, status } = await told(endpointId, '--after', `#${fifth?.sequence}`);
    expect(lines.filter((line) => line.startsWith('#'))).toHaveLength(1);
    expect([status, lines.at(-1)]).toEqual([0, expect.stringMatching(/^WHOLE: 6 batches/)]);
  });

  test('to programs is an object a line', async () => {
    const { endpointId, failed } = await story('json');
    const objects = objectsOf(await told(endpointId, '--json'));
    expect(objects.map(({ type }) => type)).toEqual([...Array(6).fill(['batch', 'fact']).flat(), 'verdict']);
    expect(objects.find(({ kind }) => kind === 'finished')).toMatchObject({
      ...{ line: 1, jobId: failed, attempt: 1, state: 'FAILED', outputBytes: 13, errorBytes: 10, workerId: 'worker-1' },
    });
    expect(objects.at(-1)).toMatchObject({ verdict: 'whole', batches: 6, state: { jobs: { FAILED: 1 }, keys: 2 } });
  });

  test('follows a log until it is told to end', async () => {
    const endpointId = endpointCalled('follow');
    const first = await scene.submit(endpointId);
    const run = new Run([endpointId, '--follow']);
    await eventually(() => expect(run.text).toContain(first));
    const second = await scene.submit(endpointId);
    await eventually(() => expect(run.text).toContain(second));
    run.end();
    expect(await run.status).toBe(0);
    expect(run.lines.filter((line) => line.includes('submitted'))).toHaveLength(2);
    expect(run.lines.at(-1)).toMatch(/^WHOLE: 3 batches/);
  });

  test('goes on with a log whose broker has been away', async () => {
    const endpointId = endpointCalled('away');
    const first = await scene.submit(endpointId);
    const run = new Run([endpointId, '--follow']);
    await eventually(() => expect(run.text).toContain(first));
    await nats.restart('kill');
    const second = await eventually(() => scene.submit(endpointId), { deadlineMs: 90_000 });
    await eventually(() => expect(run.text).toContain(second), { deadlineMs: 90_000 });
    run.end();
    expect([await run.status, run.complaint]).toEqual([0, '']);
    expect(run.text.match(new RegExp(first, 'g'))).toHaveLength(1);
  });

  test('does not mind that what it has shown is purged', async () => {
    const endpointId = endpointCalled('carried');
    await scene.submit(endpointId);
    const run = new Run([endpointId, '--follow', '--json']);
    await eventually(() => expect(run.text).toContain('submitted'));
    const [, submitted] = await scene.batches(endpointId);
    await scene.submit(endpointId);
    // Nothing of it was carried: whoever reads it from its beginning now finds none.
    await scene.logs.purge(endpointId, submitted?.sequence ?? 0);
    await eventually(() => expect(run.text.match(/"submitted"/g)).toHaveLength(2));
    run.end();
    expect(await run.status).toBe(0);
    expect((await told(endpointId)).status).toBe(1);
  });
});

describe('the check', () => {
  test('says what a log adds up to', async () => {
    const { endpointId } = await story('sum');
    await scene.submit(endpointId);
    const { lines, status } = await told(endpointId, '--check');
    expect(status).toBe(0);
    expect(lines.map((line) => line.replaceAll(/#\d+/g, '#').replace(/as of .+Z/, 'as of'))).toEqual([
      'log         7 batches (# to #), 7 facts, 2.6 KiB',
      'state       as of',
      'owner       term 1',
      'jobs        1 IN_QUEUE, 1 FAILED; inputs and outputs 37 B',
      'besides     3 idempotency keys, 1 delivery not over',
      'so far      0 completed, 1 failed, 0 timed out, 0 cancelled, 0 retried',
      'carried     nothing yet',
      expect.stringMatching(/^dead {8}about .+B, which carrying would free$/),
      expect.stringMatching(/^WHOLE: /),
    ]);
  });

  test('names a fact that cannot be: its batch, its line, its kind and why', async () => {
    const { endpointId, failed } = await story('illegal');
    const taking = { attempt: 1, token: 'token-secret', hostId: 'h', workerId: 'w', takeId: 't' };
    const atMs = systemClock.nowMs();
    const facts = encode(
      { kind: 'opened', atMs, term: 9, routerId: 'other' },
      { kind: 'taken', atMs, jobId: failed, taking },
    );
    const sequence = await scene.doctor(endpointId, { facts });
    const { lines, status, text } = await told(endpointId, '--check');
    expect([status, lines.at(-1)]).toEqual([
      1,
      `BROKEN: #${sequence} line 2 cannot be: taken, nothing of the kind can happen to what it is about, as that is by then (not-in-this-state)`,
    ]);
    expect(text).toContain('before the first fault');
    expect(text).not.toContain('--skip');
    expect(objectsOf(await told(endpointId, '--check', '--json'))[0]).toEqual({
      ...{ type: 'finding', kind: 'illegal', sequence, line: 2, fact: 'taken', why: 'not-in-this-state' },
    });
  });

  test('names an index that says something else, and that nothing is lost by it', async () => {
    const { endpointId } = await story('index');
    const last = (await scene.batches(endpointId)).at(-1);
    const facts = encode({ kind: 'opened', atMs: systemClock.nowMs(), term: 9, routerId: 'other' });
    const index = { ...(last?.index as NonNullable<typeof last>['index']), living: 7 };
    const sequence = await scene.doctor(endpointId, { facts, index });
    const { lines, status } = await told(endpointId);
    expect([status, lines.at(-1)]).toEqual([
      1,
      `WHOLE, but its index is wrong: #${sequence} has an index that says living 7 where the facts say 1`,
    ]);
  });

  test('names a batch behind which another one is missing', async () => {
    const { endpointId } = await story('gap');
    const [, , third, fourth] = await scene.batches(endpointId);
    await scene.logs.removeEntry(endpointId, third?.sequence ?? 0);
    const { lines, status } = await told(endpointId, '--check');
    expect(status).toBe(1);
    expect(lines.at(-1)).toMatch(
      new RegExp(`^BROKEN: #${fourth?.sequence} follows #${third?.sequence}, and #\\d+ is what lies before it$`),
    );
  });

  test('tells whatever lies in a log as a fact, and lets no terminal be written to', async () => {
    const { endpointId } = await story('strange');
    const atMs = systemClock.nowMs();
    await scene.doctor(endpointId, {
      facts: encode(
        { kind: '\u001b[31mconstructor', atMs },
        { kind: 'submitted', atMs: Number.MAX_SAFE_INTEGER, job: { jobId: { a: 1 } } },
        { kind: 'lost', atMs, jobId: '\u202e\u009b31m', attempt: {}, reason: 'a\nb', next: null, logTail: [] },
      ),
    });
    const { status, text } = await told(endpointId);
    expect(status).toBe(1);
    expect(text).toContain('not a fact as owners write them');
    expect(text).toContain('a b');
    for (const character of ['\u001b', '\u009b', '\u202e']) expect(text).not.toContain(character);
    const json = await told(endpointId, '--json');
    expect(json.text).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    expect(objectsOf(json).map(({ jobId }) => jobId)).toContain('\u202e\u009b31m');
  });
});

describe('the removal of what cannot be read', () => {
  test('says what is lost, changes nothing until that is wanted, and leaves the log whole', async () => {
    const { endpointId } = await story('skip');
    const sequence = await scene.litter(endpointId);
    const broken = await told(endpointId);
    expect(broken.status).toBe(1);
    expect(broken.lines.slice(-3)).toEqual([
      `#${sequence}  !! cannot be read: it is no batch`,
      `BROKEN: #${sequence} cannot be read: it is no batch`,
      `What would be lost without it: --skip ${sequence}`,
    ]);
    const asked = await told(endpointId, '--skip', `${sequence}`);
    expect([asked.status, asked.lines]).toEqual([
      1,
      [
        `#${sequence}, 6 B, cannot be read: it has no headers`,
        'No fact of the endpoint can be made out in it.',
        `Nothing was changed. To remove it: --skip ${sequence} --confirm ${sequence}`,
      ],
    ]);
    expect((await told(endpointId)).status).toBe(1);
    const confirmed = [endpointId, '--skip', `${sequence}`, '--confirm', `${sequence}`];
    expect(await told(...confirmed)).toMatchObject({
      ...{ status: 2, text: '', complaint: expect.stringContaining('Set BERTH_ROUTER_SEED') },
    });
    expect((await told(endpointId)).status).toBe(1);
    const done = await toldAs(WITH_ROUTER(), ...confirmed);
    expect([done.status, done.lines.at(-1)]).toEqual([0, expect.stringMatching(/^WHOLE: 6 batches/)]);
    // Its owner never lost it, and goes on.
    await scene.submit(endpointId);
    expect((await told(endpointId)).lines.at(-1)).toMatch(/^WHOLE: 7 batches/);
  });

  test('tells what can be made out of a harmed batch', async () => {
    const { endpointId, failed } = await story('harmed');
    const good = encodeJson({
      kind: 'life-changed',
      atMs: systemClock.nowMs(),
      jobId: failed,
      expiresAtMs: 1,
      retentionMs: 1,
    });
    const sequence = await scene.doctor(endpointId, { facts: new TextEncoder().encode(`${good}\n{"kind":"canc`) });
    const { lines, status } = await told(endpointId, '--skip', `${sequence}`);
    expect(status).toBe(1);
    expect(lines[0]).toMatch(/cannot be read: 1 of its 2 lines is no fact$/);
    expect(lines[1]).toBe('What can be made out in it would be lost with it:');
    expect(lines[4]).toMatch(new RegExp(`^ +1 +life-changed +${failed} `));
    expect(lines[5]).toMatch(/^ +2 +!! cannot be read: 13 B that are no fact$/);
  });

  test.each([
    [
      'can be read',
      async (endpointId: EndpointId) => (await scene.batches(endpointId)).at(-1)?.sequence,
      /can be read/,
    ],
    ['is another endpoint’s', neighbourOf, /no batch of/],
    [
      'has others behind it',
      async (endpointId: EndpointId) => {
        const sequence = await scene.litter(endpointId);
        await scene.doctor(endpointId, { after: sequence, facts: encode({ kind: 'opened', atMs: 1 }) });
        return sequence;
      },
      /#\d+ lies behind it and rests upon it/,
    ],
    [
      'is of another version',
      (endpointId: EndpointId) => scene.litter(endpointId, { 'Berth-Format': '2' }),
      /of format 2: a Berth that reads that format/,
    ],
  ])('is refused where it %s', async (_, put, why) => {
    const { endpointId } = await story('refused');
    const sequence = await put(endpointId);
    const before = await told(endpointId, '--json');
    const confirmed = ['--skip', `${sequence}`, '--confirm', `${sequence}`];
    const { lines, status } = await toldAs(WITH_ROUTER(), endpointId, ...confirmed);
    expect([status, lines]).toEqual([2, [expect.stringMatching(why)]]);
    expect((await told(endpointId, '--json')).text).toBe(before.text);
  });
});

describe('nothing can be said', () => {
  test('of an endpoint without a log', async () => {
    const { complaint, status, text } = await told('nobody');
    expect([status, text]).toEqual([2, '']);
    expect(complaint).toContain('nobody has no log here');
  });

  test('without a broker, which is named without its password', async () => {
    const run = new Run(['ep'], { BERTH_NATS_URL: 'nats://user:hook-secret@127.0.0.1:1' });
    expect(await run.status).toBe(1);
    expect(run.complaint).toBe(
      'berth: No connection to nats://127.0.0.1:1: nobody listens there.\n  Start it, or set BERTH_NATS_URL to where it is.\n',
    );
    const unset = new Run(['ep'], {});
    expect([await unset.status, unset.complaint]).toEqual([2, expect.stringContaining('BERTH_NATS_URL is missing')]);
  });

  test.each([
    // The broker asks a management API about it, and there is none.
    {
      ...{ whose: 'of another installation', seedOf: () => createNatsKeys().roles.operator },
      ...{ expected: 1, why: 'it cannot be reached' },
    },
    {
      ...{ whose: 'of a role that may not', seedOf: () => nats.keys.roles.gateway },
      ...{ expected: 2, why: 'does not let this user' },
    },
    {
      ...{ whose: 'of a router', seedOf: () => nats.keys.roles.router },
      ...{ expected: 2, why: 'does not let this user' },
    },
  ])('with a key $whose', async ({ expected, seedOf, why }) => {
    const { endpointId } = await story('rights');
    const { complaint, status, text } = await toldAs({ ...OPERATOR(), BERTH_NATS_SEED: seedOf() }, endpointId);
    expect([status, text, complaint]).toEqual([expected, '', expect.stringContaining(why)]);
    expect(complaint).toContain('BERTH_NATS_SEED must be that of env/operator.env');
  });

  test('when nobody reads it', async () => {
    const { endpointId } = await story('hung-up');
    const stdout = new PassThrough();
    const environment = OPERATOR();
    const streams = { stdout, stderr: new PassThrough() };
    const status = runProgram(['log', endpointId, '--follow'], [logCommand], {
      ...{ environment, streams, onInterrupt: () => undefined },
    });
    stdout.destroy(new Error('EPIPE'));
    expect([await status, streams.stderr.read()]).toEqual([1, null]);
  });

  test('when somebody has had enough before its reader takes it', async () => {
    const endpointId = endpointCalled('stuck');
    for (let jobs = 0; jobs < 20; jobs += 1) await scene.submit(endpointId);
    const stdout = new PassThrough({ highWaterMark: 16 });
    const ending = Promise.withResolvers<() => void>();
    const status = runProgram(['log', endpointId, '--follow'], [logCommand], {
      ...{ environment: OPERATOR(), streams: { stdout, stderr: new PassThrough() } },
      onInterrupt: ending.resolve,
    });
    await eventually(() => expect(stdout.writableNeedDrain).toBe(true));
    (await ending.promise)();
    expect(await status).toBe(1);
  });
});
