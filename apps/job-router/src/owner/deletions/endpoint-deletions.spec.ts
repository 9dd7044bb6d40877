import { PlatformError, type EndpointId } from '@berth/domain';
import { decodeLines } from '@berth/endpoint-log';
import { silentLogger } from '@berth/telemetry';
import { SeededRandom, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DeskScene, ENDPOINT, large } from '../../../test/model/desk-scene.js';
import { EndpointDeletions } from './endpoint-deletions.js';

const NEVER = new AbortController().signal;

let scene: DeskScene;
let deletions: EndpointDeletions;
let deleted: EndpointId[];
let owned: boolean;
let readThrough: number;
/** As `readThrough`, or behind it where what is not read need not be waited for. */
let purgeThrough: number;
let unread: (readonly [EndpointId, string])[];
/** How much lies beside the log at each look. */
let beside: number[];
let removals: EndpointId[];
let emptied: number;
let tellDeleted: () => void;
let failing: 'attachments' | 'purge' | null;

beforeEach(async () => {
  scene = await new DeskScene().start();
  [deleted, owned, readThrough, beside, removals, emptied] = [[], true, Number.MAX_SAFE_INTEGER, [], [], 0];
  [purgeThrough, unread] = [0, []];
  [failing, deletions] = [null, open()];
});
afterEach(() => deletions.stop());

/** The loop of a router that knows nothing of what was done before. */
const open = (): EndpointDeletions =>
  new EndpointDeletions({
    deleted: { list: () => deleted, onDeleted: (listener) => (tellDeleted = listener) },
    logs: scene.logs,
    broker: {
      append: (...asked) => scene.payloads.broker.append(...asked),
      read: (...asked) => scene.payloads.broker.read(...asked),
      readNext: (...asked) => scene.payloads.broker.readNext(...asked),
      purge: (...asked) => (failing === 'purge' ? silence() : scene.payloads.broker.purge(...asked)),
    },
    attachments: {
      removeEndpoint: (endpointId) => {
        if (failing === 'attachments') return silence();
        removals.push(endpointId);
        return Promise.resolve(beside.shift() ?? 0);
      },
    },
    owns: () => owned,
    ...{ clock: scene.clock, random: new SeededRandom(1), logger: silentLogger },
    purgeable: () =>
      purgeThrough > readThrough
        ? { through: purgeThrough, readThrough, reason: 'aged' }
        : { through: readThrough, readThrough, reason: 'read' },
    onUnreadPurged: (endpointId, reason) => unread.push([endpointId, reason]),
    onEmptied: () => (emptied += 1),
  });

const silence = (): Promise<never> =>
  Promise.reject(new PlatformError('service-unavailable', 'The broker does not answer.'));

const factsLeft = (): readonly (readonly string[])[] =>
  scene.model
    .view(ENDPOINT)
    .map((entry) => ('facts' in entry ? decodeLines(entry.facts).map(({ kind }) => kind) : ['unreadable']));

const pass = async (): Promise<void> => {
  await scene.clock.advance(5_000);
  await deletions.run(NEVER);
};

describe('an endpoint that was deleted', () => {
  test('stops what runs, and leaves nothing but the word that it was deleted', async () => {
    const waiting = await scene.submit({}, large());
    const running = await scene.submit();
    await scene.take(2);
    deleted = [ENDPOINT];
    await pass();
    expect(scene.touched.slice(-2)).toMatchObject([
      { jobId: waiting, now: 'gone', stop: { reason: 'endpoint deleted' } },
      { jobId: running, now: 'gone', stop: { reason: 'endpoint deleted' } },
    ]);
    expect(factsLeft()).toEqual([['endpoint-deleted']]);
    expect([removals, emptied]).toEqual([[ENDPOINT], 1]);
  });

  test('is looked at once more after a while as long as anything was found beside its log', async () => {
    await scene.submit();
    deleted = [ENDPOINT];
    beside = [12, 3];
    await deletions.run(NEVER);
    await deletions.run(NEVER);
    expect([removals.length, emptied, factsLeft().length]).toEqual([1, 0, 3]);
    await pass();
    await pass();
    await pass();
    expect([removals.length, emptied]).toEqual([3, 1]);
    expect(factsLeft()).toHaveLength(1);
  });

  test('keeps what the job history has not read yet', async () => {
    await scene.submit();
    const [first] = scene.model.view(ENDPOINT);
    readThrough = first?.sequence ?? 0;
    deleted = [ENDPOINT];
    await pass();
    expect(factsLeft()).toEqual([['submitted'], ['endpoint-deleted']]);
    expect(emptied).toBe(0);
    readThrough = Number.MAX_SAFE_INTEGER;
    await pass();
    expect(factsLeft()).toEqual([['endpoint-deleted']]);
    expect(emptied).toBe(1);
  });

  test('does not keep for ever what the job history does not read, and tells what is missing there', async () => {
    await scene.submit();
    const [first] = scene.model.view(ENDPOINT);
    readThrough = first?.sequence ?? 0;
    deleted = [ENDPOINT];
    await pass();
    expect([factsLeft().length, unread]).toEqual([2, []]);
    purgeThrough = Number.MAX_SAFE_INTEGER;
    await pass();
    expect(factsLeft()).toEqual([['endpoint-deleted']]);
    expect([unread, emptied]).toEqual([[[ENDPOINT, 'aged']], 1]);
  });

  test('is read by whoever owns it next, who has nothing left to do', async () => {
    await scene.submit();
    deleted = [ENDPOINT];
    await pass();
    scene.owner.drop(3);
    await scene.start();
    expect(await scene.logs.read(ENDPOINT, (state) => state.isDeleted)).toEqual({ kind: 'answer', answer: true });
    await pass();
    expect(removals).toHaveLength(1);
  });

  test('is emptied though its log stands still, since nobody can read what lies there', async () => {
    await scene.submit();
    scene.model.putGarbage(ENDPOINT);
    deleted = [ENDPOINT];
    for (let passes = 0; passes < 4; passes += 1) await pass();
    expect(factsLeft()).toEqual([['endpoint-deleted']]);
    expect(emptied).toBe(1);
    scene.owner.drop(3);
    await scene.start();
    expect(await scene.logs.read(ENDPOINT, (state) => state.isDeleted)).toEqual({ kind: 'answer', answer: true });
  });

  test.each(['attachments', 'purge'] as const)(
    'is gone on with by the next owner where one died at the %s',
    async (at) => {
      await scene.submit();
      deleted = [ENDPOINT];
      failing = at;
      await pass();
      expect([factsLeft().length, emptied]).toEqual([3, 0]);
      failing = null;
      scene.owner.drop(3);
      await scene.start();
      await open().run(NEVER);
      expect(factsLeft()).toEqual([['opened', 'endpoint-deleted']]);
      expect(emptied).toBe(1);
    },
  );

  test('is not opened where it never had a log, but what was written for it goes', async () => {
    deleted = [ENDPOINT];
    beside = [3];
    await pass();
    expect([removals.length, emptied]).toEqual([1, 0]);
    await pass();
    expect([scene.model.history(ENDPOINT), removals.length, emptied]).toEqual([[], 2, 1]);
  });

  test('is left to its owner', async () => {
    await scene.submit();
    [deleted, owned] = [[ENDPOINT], false];
    await pass();
    expect([removals, emptied]).toEqual([[], 0]);
  });

  test('is tried again where it is not certain who owns it, or the broker does not answer', async () => {
    await scene.submit();
    deleted = [ENDPOINT];
    scene.isTrusted = false;
    await pass();
    scene.isTrusted = true;
    scene.isAway = true;
    await pass();
    expect([removals, emptied]).toEqual([[], 0]);
    scene.isAway = false;
    await pass();
    expect([removals.length, emptied]).toEqual([1, 1]);
  });

  test('that cannot be emptied keeps no other from it', async () => {
    await scene.submit();
    failing = 'purge';
    const others = Array.from({ length: 20 }, (_, at) => `other${at}` as EndpointId);
    deleted = [ENDPOINT, ...others];
    await pass();
    await pass();
    expect(emptied).toBe(20);
  });
});

test('a deletion is seen at once, and looked at again while it is not done', async () => {
  await scene.submit();
  beside = [1];
  deletions.start();
  await scene.clock.advance(0);
  deleted = [ENDPOINT];
  tellDeleted();
  await eventually(() => expect(removals).toHaveLength(1));
  await eventually(async () => {
    await scene.clock.advance(1_000);
    expect([removals.length, emptied]).toEqual([2, 1]);
  });
});
