import { expect, test } from '@jest/globals';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import type { JobId } from '../ids.js';
import { ENDPOINT_BOUNDS_DEFAULT } from './bounds.js';
import type { EndpointCommand, JobWish } from './commands.js';
import type { LogFact } from './facts.js';
import { itemJobId } from './job-data.js';
import { applyFact } from './apply/apply-fact.js';
import { performCommand } from './perform.js';
import { newEndpointState, type EndpointState } from './state.js';

const PLACE = { sequence: 1 };

const keyed = (jobs: readonly JobWish[], sentAtMs: number): EndpointCommand => ({
  ...{ kind: 'submit', sentAtMs, jobs, takers: [], bounds: ENDPOINT_BOUNDS_DEFAULT },
  key: { name: 'key', fingerprint: 'body' },
});

const named = (scene: Scene, firstId: string): readonly JobWish[] =>
  [0, 1, 2].map((item) => scene.wish({ jobId: itemJobId({ firstId: firstId as JobId, size: 3 }, item) }));

/** The owner died when two of three jobs were committed. */
function halfAccepted(scene: Scene): EndpointState {
  scene.log.performCommand(keyed(named(scene, 'list-0000'), scene.nowMs), scene.nowMs);
  const state = newEndpointState(0);
  for (const fact of scene.log.facts().slice(0, 3)) applyFact(state, fact, PLACE);
  return state;
}

test('a request of which a part was committed is finished when it comes again, and makes no job twice', () => {
  const scene = new Scene();
  const state = halfAccepted(scene);
  const facts: LogFact[] = [];
  const again = performCommand(state, keyed(named(scene, 'list-0000'), scene.nowMs), {
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

test('when it comes again under other ids, the edge is told those that it stands for', () => {
  const scene = new Scene();
  const state = halfAccepted(scene);
  const write = (fact: LogFact): never => {
    throw new Error(`nothing is to be written: ${fact.kind}`);
  };
  const again = performCommand(state, keyed(named(scene, 'other-0000'), scene.nowMs), { nowMs: scene.nowMs, write });
  expect(again).toMatchObject({ answer: { kind: 'named-before', firstId: 'list-0000', size: 3 } });
});
