import { describe, expect, test } from '@jest/globals';
import { expectSameReplay } from '../../test/endpoint-jobs/play-story.js';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import type { JobId } from '../ids.js';
import { ENDPOINT_BOUNDS_DEFAULT } from './bounds.js';
import type { CommandAnswer, EndpointCommand, SubmitCommand } from './commands.js';
import type { LogFact } from './facts.js';
import { itemJobId } from './job-data.js';
import { applyFact } from './apply/apply-fact.js';
import { performCommand } from './perform.js';
import { newEndpointState, type EndpointState } from './state.js';

const PLACE = { sequence: 1 };

type Key = NonNullable<SubmitCommand['key']>;
type Piece = [item: number, count: number, more?: Partial<Key>];

/** A piece of a request for three jobs: as many of them as `count`, from `item` on. */
function piece(scene: Scene, ...[item, count, more]: Piece): EndpointCommand {
  const key = { name: 'key', fingerprint: 'body', firstId: 'list-0000' as JobId, size: 3, item, ...more };
  const jobs = Array.from({ length: count }, (_, at) => scene.wish({ jobId: itemJobId(key, item + at) }));
  return { kind: 'submit', sentAtMs: scene.nowMs, jobs, key, takers: [], bounds: ENDPOINT_BOUNDS_DEFAULT };
}

const ask = (scene: Scene, ...what: Piece): CommandAnswer =>
  scene.log.performCommand(piece(scene, ...what), scene.nowMs);

const ids = ({ state }: Scene): readonly string[] => [...state.jobs.keys()];

/** The owner died when two of three jobs were committed. */
function halfAccepted(scene: Scene): EndpointState {
  ask(scene, 0, 3);
  const state = newEndpointState(0);
  for (const fact of scene.log.facts().slice(0, 3)) applyFact(state, fact, PLACE);
  return state;
}

test('a request of which a part was committed is finished when it comes again, and makes no job twice', () => {
  const scene = new Scene();
  const state = halfAccepted(scene);
  const facts: LogFact[] = [];
  const again = performCommand(state, piece(scene, 0, 3), {
    nowMs: scene.nowMs,
    write: (fact) => {
      facts.push(fact);
      return PLACE;
    },
  });
  const jobIds = ['list-0000', 'list-0001', 'list-0002'];
  expect(again).toMatchObject({ answer: { kind: 'accepted', jobIds, isReplayed: true } });
  expect(facts).toMatchObject([{ kind: 'submitted', job: { jobId: 'list-0002' } }]);
  expect([...state.jobs.keys()]).toEqual(jobIds);
});

test('when it comes again under other ids, the edge is told those that it stands for, and how many are there', () => {
  const scene = new Scene();
  const state = halfAccepted(scene);
  const write = (fact: LogFact): never => {
    throw new Error(`nothing is to be written: ${fact.kind}`);
  };
  const other = piece(scene, 0, 3, { firstId: 'other-0000' as JobId });
  const again = performCommand(state, other, { nowMs: scene.nowMs, write });
  expect(again).toMatchObject({ answer: { kind: 'named-before', firstId: 'list-0000', size: 3, accepted: 2 } });
});

describe('a request that comes in pieces', () => {
  test('is accepted piece by piece, each of them once', () => {
    const scene = new Scene();
    expect(ask(scene, 0, 2)).toMatchObject({ kind: 'accepted', jobIds: ['list-0000', 'list-0001'], isReplayed: false });
    expect(ask(scene, 0, 2)).toMatchObject({ kind: 'accepted', jobIds: ['list-0000', 'list-0001'], isReplayed: true });
    expect(ask(scene, 2, 1)).toMatchObject({ kind: 'accepted', jobIds: ['list-0002'], isReplayed: false });
    expect(ask(scene, 0, 3)).toMatchObject({ kind: 'accepted', isReplayed: true });
    expect(ids(scene)).toEqual(['list-0000', 'list-0001', 'list-0002']);
    expectSameReplay(scene.log, scene.nowMs);
  });

  test('is told where it stands when a piece comes before its turn', () => {
    const scene = new Scene();
    expect(ask(scene, 2, 1)).toEqual({ kind: 'named-before', firstId: 'list-0000', size: 3, accepted: 0 });
    ask(scene, 0, 1);
    expect(ask(scene, 2, 1)).toEqual({ kind: 'named-before', firstId: 'list-0000', size: 3, accepted: 1 });
    expect(ids(scene)).toEqual(['list-0000']);
  });

  test('is finished by a second router under the ids of the first, whose next piece finds it accepted', () => {
    const scene = new Scene();
    const other = { firstId: 'other-0000' as JobId };
    ask(scene, 0, 1);
    expect(ask(scene, 0, 3, other)).toEqual({ kind: 'named-before', firstId: 'list-0000', size: 3, accepted: 1 });
    expect(ask(scene, 1, 2)).toMatchObject({ kind: 'accepted', isReplayed: false });
    expect(ask(scene, 1, 2)).toMatchObject({ kind: 'accepted', isReplayed: true });
    expect(ask(scene, 0, 3, other)).toEqual({ kind: 'named-before', firstId: 'list-0000', size: 3, accepted: 3 });
    expect(ids(scene)).toEqual(['list-0000', 'list-0001', 'list-0002']);
  });

  test('keeps what was accepted of it when the rest is over a bound', () => {
    const scene = new Scene();
    ask(scene, 0, 1);
    const bounds = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 2 };
    const rest = { ...piece(scene, 1, 2), bounds } as EndpointCommand;
    expect(scene.log.performCommand(rest, scene.nowMs)).toMatchObject({ kind: 'refused', reason: 'too-many-jobs' });
    expect(ids(scene)).toEqual(['list-0000']);
    expect(ask(scene, 1, 2)).toMatchObject({ kind: 'accepted', jobIds: ['list-0001', 'list-0002'] });
  });

  test.each([
    ['another body', { fingerprint: 'another' }],
    ['another number of jobs', { size: 4 }],
  ])('leaves no room under its key for %s', (_, more) => {
    const scene = new Scene();
    ask(scene, 0, 1);
    expect(ask(scene, 1, 1, more)).toMatchObject({ kind: 'refused', code: 'idempotency-key-reused' });
  });

  test('is refused as a whole where it asks for too many jobs, whatever a piece holds', () => {
    const scene = new Scene();
    expect(ask(scene, 0, 1, { size: 1_001 })).toMatchObject({ kind: 'refused', reason: 'too-large' });
  });

  test('takes no job whose id does not follow from its first, and none behind its last', () => {
    const scene = new Scene();
    const strange = { ...piece(scene, 0, 1), jobs: [scene.wish()] } as EndpointCommand;
    expect(scene.log.performCommand(strange, scene.nowMs)).toMatchObject({ kind: 'named-before', accepted: 0 });
    expect(ask(scene, 0, 4)).toMatchObject({ kind: 'named-before', accepted: 0 });
    expect(ids(scene)).toEqual([]);
  });
});
