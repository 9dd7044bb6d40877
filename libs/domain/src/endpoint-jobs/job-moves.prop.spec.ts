import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeStory } from '../../test/endpoint-jobs/play-story.js';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import { stories } from '../../test/endpoint-jobs/stories.js';
import { JOB_STATES, JOB_TRANSITIONS, canMove } from '../job/index.js';
import type { HostId, JobId } from '../ids.js';
import { applyFact, type AttemptProof, type JobData, type LogFact } from './index.js';
import { newEndpointState } from './state.js';

const MOVES = JOB_STATES.flatMap((from) => JOB_TRANSITIONS[from].map((to) => `${from} ${to}`));

test('a job moves only along the table, and waits again only as a later attempt', () => {
  fc.assert(
    fc.property(stories(160, 80), (story) => {
      const state = newEndpointState(0);
      const known = new Map<JobId, Pick<JobData, 'attempt' | 'state'>>();
      for (const { sequence, text } of writeStory(story).batches) {
        for (const line of text.split('\n')) {
          const applied = applyFact(state, JSON.parse(line) as LogFact, { sequence });
          if (applied.kind !== 'applied') throw new Error(JSON.stringify(applied));
          for (const { jobId } of applied.touched) {
            const before = known.get(jobId);
            const now = state.jobs.get(jobId)?.data;
            known.delete(jobId);
            if (now === undefined) continue;
            known.set(jobId, { attempt: now.attempt, state: now.state });
            if (before === undefined || before.state === now.state) continue;
            expect(canMove(before.state, now.state)).toBe(true);
            expect(now.attempt).toBe(now.state === 'IN_QUEUE' ? before.attempt + 1 : before.attempt);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('every move of the table is made', () => {
  const made = new Set<string>();
  const move = (act: (scene: Scene, proof: AttemptProof) => void, isTaken: boolean): void => {
    const scene = new Scene();
    const jobId = scene.submit();
    const proof = isTaken ? scene.takeOne() : { jobId, attempt: 1, token: '', hostId: 'h1' as HostId };
    let before = scene.stateOf(jobId);
    const note = (): void => {
      made.add(`${before} ${scene.stateOf(jobId)}`);
      before = scene.stateOf(jobId);
    };
    act(scene, proof);
    note();
    scene.retry(jobId);
    if (scene.stateOf(jobId) !== before) note();
  };
  move((scene) => scene.takeOne(), false);
  for (const isTaken of [false, true]) move((scene, { jobId }) => scene.ask({ kind: 'cancel', jobId }), isTaken);
  for (const state of ['COMPLETED', 'FAILED', 'TIMED_OUT'] as const) {
    move((scene, proof) => scene.finish(proof, state, state === 'COMPLETED' ? null : 'boom'), true);
  }
  move((scene, proof) => scene.giveUp(proof, true), true);
  expect([...made].toSorted()).toEqual(MOVES.toSorted());
});
