import { expect, test } from '@jest/globals';
import { FreshWorker } from './fresh-worker.js';

const started = (isAdopted = false): FreshWorker => {
  const worker = new FreshWorker({ isAdopted });
  worker.noteAsking(10_000);
  return worker;
};

test('the first jobs of a worker were waiting for it if they are older than its first question', () => {
  expect(started().startsOf([2_000, 500, 1_000], 11_000)).toEqual(['cold', 'warm', 'warm']);
});

test('what comes afterwards found it there, however long it has waited: for others, in the queue', () => {
  const worker = started();
  worker.startsOf([1_500], 11_000);
  worker.noteAsking(12_000);
  expect(worker.startsOf([9_000], 12_000)).toEqual(['warm']);
});

test('the first jobs after a pause waited for the worker to go on', () => {
  const worker = started();
  worker.startsOf([100], 20_000);
  worker.noteResumed(30_000);
  expect(worker.startsOf([400, 50], 30_100)).toEqual(['resumed', 'warm']);
});

test('a worker that an earlier life of the agent started was there, until it is paused', () => {
  const worker = started(true);
  expect(worker.startsOf([60_000], 10_000)).toEqual(['warm']);
  worker.noteResumed(30_000);
  expect(worker.startsOf([400], 30_100)).toEqual(['resumed']);
});

test('one that was held before it ever asked is still starting', () => {
  const worker = new FreshWorker({ isAdopted: false });
  worker.noteResumed(5_000);
  worker.noteAsking(10_000);
  expect(worker.startsOf([6_000], 10_000)).toEqual(['cold']);
});
