import type { OwnerCommand } from '@berth/contracts';
import { ENDPOINT_BOUNDS_DEFAULT, INLINE_INPUT_MAX_BYTES, PlatformError, type JobId } from '@berth/domain';
import type { SecretBox } from '@berth/secrets';
import { ManualClock, SeededRandom } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { named, openSubmissions, requestOf, secretsOf, textOf } from '../../test/fixtures/edge-scene.js';
import { EndpointOwner } from '../../test/fixtures/endpoint-owner.js';
import { KeptBlobs } from '../../test/fixtures/kept-blobs.js';
import { ScriptedOwners } from '../../test/fixtures/scripted-owners.js';
import type { JobsAccepted } from './jobs.port.js';

const LARGE = INLINE_INPUT_MAX_BYTES + 1;
const outage = new PlatformError('service-unavailable', 'away', { retryAfterSeconds: 1 });

type Submit = Extract<OwnerCommand, { readonly kind: 'submit' }>;

/** One owner, and as many routers as are opened. `before` says what happens to a command on its way to the owner. */
function openScene(before: (command: Submit, sent: number) => void = () => undefined) {
  const clock = new ManualClock();
  const owner = new EndpointOwner(() => clock.nowMs());
  const blobs = new KeptBlobs();
  const sent: Submit[] = [];
  const owners = new ScriptedOwners(({ question }) => {
    const command = (question as { readonly command: Submit }).command;
    sent.push(command);
    before(command, sent.length);
    return owner.perform(command);
  });
  let seed = 0;
  const router = (secrets?: SecretBox) =>
    openSubmissions({ owners, blobs, clock, random: new SeededRandom((seed += 1)), ...(secrets && { secrets }) });
  const jobs = (): readonly JobId[] => [...owner.state.jobs.keys()];
  return { owner, blobs, sent, router, jobs };
}

const idsOf = ({ outcomes }: JobsAccepted): readonly (JobId | null)[] =>
  outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.id : null));

const failureOf = (submitted: Promise<unknown>): Promise<unknown> =>
  submitted.then(
    () => 'accepted',
    (error: unknown) => error,
  );

describe('a request that its caller did not name', () => {
  test('is one command, and its jobs have the ids that clients know', async () => {
    const { jobs, owner, router, sent } = openScene();
    const ids: JobId[] = [];
    const accepted = await router().submit(requestOf(1, { origin: 'runsync', onFirstId: (id) => ids.push(id) }));
    expect(accepted).toEqual({ outcomes: [{ kind: 'accepted', id: ids[0] }], isReplayed: false });
    expect(ids[0]).toMatch(/^sync-[0-9a-f-]{36}$/);
    expect(jobs()).toEqual(ids);
    expect(sent).toHaveLength(1);
    expect(owner.facts.at(-1)).toMatchObject({
      kind: 'submitted',
      job: { origin: 'runsync', bodyBytes: 42, body: { input: { kind: 'inline', json: textOf(40) }, extras: '{}' } },
    });
  });

  test('tells the id of its first job before anything of it is written', async () => {
    const { blobs, router, sent } = openScene();
    const seen: unknown[] = [];
    const onFirstId = (): void => void seen.push(blobs.kept.size, sent.length);
    await router().submit(requestOf(1, { bytes: () => LARGE, onFirstId }));
    expect(seen).toEqual([0, 0]);
  });

  test('goes in pieces in the order of its list, and its jobs start in it', async () => {
    const { jobs, router, sent } = openScene();
    const accepted = await router().submit(requestOf(30, { bytes: () => 60_000 }));
    expect(sent.length).toBeGreaterThan(4);
    expect(jobs()).toEqual(idsOf(accepted));
    expect(new Set(jobs()).size).toBe(30);
  });

  test('is accepted as far as it can be: a piece that is refused takes no other with it', async () => {
    const { jobs, router } = openScene((_, at) => {
      if (at === 2) throw new PlatformError('rate-limited', 'full');
    });
    const { outcomes } = await router().submit(requestOf(30, { bytes: () => 60_000 }));
    const failed = outcomes.flatMap(({ kind }, at) => (kind === 'failed' ? [at] : []));
    expect(failed).toEqual([5, 6, 7, 8, 9]);
    expect(jobs()).toHaveLength(25);
  });

  test('is not tried any further after an outage', async () => {
    const { jobs, router, sent } = openScene((_, at) => {
      if (at === 3) throw outage;
    });
    const { outcomes } = await router().submit(requestOf(30, { bytes: () => 60_000 }));
    expect(sent).toHaveLength(3);
    expect(outcomes.slice(0, 10).every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(outcomes.slice(10)).toEqual(Array(20).fill({ kind: 'failed', error: outage }));
    expect(jobs()).toHaveLength(10);
  });

  test('fails as a whole where nothing of it is accepted', async () => {
    const { owner, router } = openScene();
    owner.bounds = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 0 };
    expect(await failureOf(router().submit(requestOf(3)))).toMatchObject({
      code: 'limit-reached',
      retryAfterSeconds: 1,
    });
  });
});

describe('a large input', () => {
  test('lies beside the log before the log names it', async () => {
    const { blobs, owner, router } = openScene(({ jobs: [job] }) => {
      expect(blobs.kept.has(`ep/${job?.jobId}/in`)).toBe(true);
    });
    await router().submit(requestOf(1, { bytes: () => LARGE }));
    expect(owner.facts.at(-1)).toMatchObject({
      job: {
        bodyBytes: LARGE + 2,
        body: { input: { kind: 'blob', manifest: { name: 'in', parts: 1, sizeBytes: LARGE } } },
      },
    });
  });

  test('is removed again where its job is refused, and stays where nobody knows', async () => {
    const refused = openScene();
    refused.owner.bounds = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 0 };
    await failureOf(refused.router().submit(requestOf(3, { bytes: () => LARGE })));
    expect([refused.sent.length, refused.blobs.kept.size]).toEqual([1, 0]);

    const unknown = openScene(() => {
      throw outage;
    });
    await failureOf(unknown.router().submit(requestOf(3, { bytes: () => LARGE })));
    expect(unknown.blobs.kept.size).toBe(3);
  });

  test('that cannot be stored is not sent, and leaves nothing of its piece behind', async () => {
    const { blobs, router, sent } = openScene();
    blobs.failures.push(outage);
    expect(await failureOf(router().submit(requestOf(3, { bytes: () => LARGE })))).toBe(outage);
    expect([sent.length, blobs.kept.size]).toEqual([0, 0]);
  });

  test('that cannot be removed is said, and stays until its time is over', async () => {
    const clock = new ManualClock();
    const owner = new EndpointOwner(() => clock.nowMs());
    owner.bounds = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 0 };
    const owners = new ScriptedOwners(({ question }) => owner.perform((question as { command: Submit }).command));
    const blobs = new KeptBlobs();
    blobs.remove = () => Promise.reject(outage);
    let warnings = 0;
    const onWarning = (): void => void (warnings += 1);
    const router = openSubmissions({ owners, blobs, clock, random: new SeededRandom(1), onWarning });
    expect(await failureOf(router.submit(requestOf(1, { bytes: () => LARGE })))).toMatchObject({
      code: 'limit-reached',
    });
    expect([warnings, blobs.kept.size]).toEqual([1, 1]);
  });
});

const request = (size: number, more: Parameters<typeof requestOf>[1] = {}) =>
  requestOf(size, { name: named(), bytes: () => 60_000, ...more });

describe('a request that its caller named', () => {
  test('makes its jobs once, however often and wherever it comes', async () => {
    const { jobs, router, sent } = openScene();
    const first = await router().submit(request(12));
    expect(first.isReplayed).toBe(false);
    expect(jobs()).toEqual(idsOf(first));
    const before = sent.length;
    const again = await router().submit(request(12));
    expect(again).toEqual({ outcomes: first.outcomes, isReplayed: true });
    expect([jobs().length, sent.length]).toEqual([12, before + 1]);
  });

  test('of one job is that job, and its second caller is told its id', async () => {
    const { router } = openScene();
    const one = request(1, { name: { ...named(), operation: 'runsync' }, origin: 'runsync' });
    const first = await router().submit(one);
    const told: JobId[] = [];
    const again = await router().submit({ ...one, onFirstId: (id) => told.push(id) });
    expect(again).toEqual({ ...first, isReplayed: true });
    expect(told).toHaveLength(2);
    expect(told[1]).toBe(idsOf(first)[0]);
  });

  test('is finished by whoever brings it again, under the ids of then', async () => {
    const dead = new Error('this router died');
    const { jobs, router } = openScene((_, at) => {
      if (at === 2) throw dead;
    });
    const { outcomes } = await router().submit(request(12));
    expect(outcomes.slice(5)).toEqual(Array(7).fill({ kind: 'failed', error: dead }));
    const submitted: [number, JobId][] = [];
    const { submissionOf } = request(12);
    const again = await router().submit(
      request(12, {
        submissionOf: (item, id) => {
          submitted.push([item, id]);
          return submissionOf(item, id);
        },
      }),
    );
    expect(again.isReplayed).toBe(true);
    expect(idsOf(again).slice(0, 5)).toEqual(idsOf({ outcomes, isReplayed: false }).slice(0, 5));
    expect(jobs()).toEqual(idsOf(again));
    const made = new Map(submitted);
    expect(idsOf(again).slice(5)).toEqual([5, 6, 7, 8, 9, 10, 11].map((item) => made.get(item)));
  });

  test('is accepted once where it reaches two routers at one time', async () => {
    const { jobs, router } = openScene();
    const both = await Promise.all([router().submit(request(20)), router().submit(request(20))]);
    expect(idsOf(both[0])).toEqual(idsOf(both[1]));
    expect(jobs()).toEqual(idsOf(both[0]));
    expect(both.map(({ isReplayed }) => isReplayed).toSorted()).toEqual([false, true]);
  });

  test('leaves no room under its key for another body', async () => {
    const { blobs, jobs, router } = openScene();
    await router().submit(request(2));
    const other = router().submit(request(2, { name: named('another body'), bytes: () => LARGE }));
    expect(await failureOf(other)).toMatchObject({ code: 'idempotency-key-reused' });
    expect([jobs().length, blobs.kept.size]).toEqual([2, 0]);
  });

  test.each([
    ['key', named('another body', 'another key')],
    ['operation', { ...named('another body'), operation: 'run' as const }],
  ])('shares its name with no request of another %s', async (_, name) => {
    const { jobs, router } = openScene();
    await router().submit(request(2));
    expect((await router().submit(request(2, { name }))).isReplayed).toBe(false);
    expect(jobs()).toHaveLength(4);
  });

  test('is recognised after the operator’s key was rotated', async () => {
    const { jobs, router } = openScene();
    const first = await router(secretsOf(1)).submit(request(7));
    expect(await router(secretsOf(2, 1)).submit(request(7))).toEqual({ ...first, isReplayed: true });
    const other = router(secretsOf(2, 1)).submit(request(7, { name: named('another body') }));
    expect(await failureOf(other)).toMatchObject({ code: 'idempotency-key-reused' });
    expect(jobs()).toHaveLength(7);
  });

  test('keeps nothing in the log by which its body could be guessed', async () => {
    const { owner, router } = openScene();
    await router().submit(request(1));
    const [key] = [...owner.state.keys.values()];
    expect(key?.data.fingerprint).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify([key?.data])).not.toContain('"body"');
  });

  test('says which of its jobs failed when the endpoint has no room for all, and the rest is made later', async () => {
    const { jobs, owner, router } = openScene();
    owner.bounds = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 7 };
    const { outcomes } = await router().submit(request(12));
    expect(outcomes.map(({ kind }) => kind === 'accepted')).toEqual([...Array(5).fill(true), ...Array(7).fill(false)]);
    expect(outcomes[5]).toMatchObject({ error: { code: 'limit-reached' } });
    owner.bounds = ENDPOINT_BOUNDS_DEFAULT;
    const again = await router().submit(request(12));
    expect(idsOf(again).slice(0, 5)).toEqual(jobs().slice(0, 5));
    expect(jobs()).toEqual(idsOf(again));
  });

  test('has its large inputs where its jobs name them, also when a second router wrote them first in vain', async () => {
    const { blobs, jobs, router } = openScene();
    const large = request(9, { bytes: (item) => (item % 2 === 0 ? LARGE : 60_000) });
    await Promise.all([router().submit(large), router().submit(large)]);
    await router().submit(large);
    const named = jobs().filter((_, item) => item % 2 === 0);
    expect([...blobs.kept.keys()].toSorted()).toEqual(named.map((id) => `ep/${id}/in`).toSorted());
  });

  test('removes no input that another router may have named, although it is refused itself', async () => {
    const { blobs, jobs, owner, router } = openScene();
    const large = request(10, { bytes: (item) => (item < 6 ? 60_000 : LARGE) });
    owner.bounds = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 5 };
    await router().submit(large);
    expect(jobs()).toHaveLength(5);
    expect(blobs.kept.size).toBe(4);
  });

  test('is given up where it is told again and again where it stands', async () => {
    const clock = new ManualClock();
    const owners = new ScriptedOwners(() => ({ kind: 'named-before', firstId: 'f-0000', size: 3, accepted: 0 }));
    const router = openSubmissions({ owners, blobs: new KeptBlobs(), clock, random: new SeededRandom(1) });
    expect(await failureOf(router.submit(request(3)))).toMatchObject({ code: 'service-unavailable' });
    expect(owners.asked.length).toBeLessThan(12);
  });
});
