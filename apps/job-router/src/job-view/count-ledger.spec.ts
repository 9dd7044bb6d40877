import type { EndpointId, JobId, JobState, Milestone } from '@berth/domain';
import { jobShard } from '@berth/messaging';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { JobSighting } from './job-sighting.js';
import { JobView } from './job-view.service.js';

const T = 1_750_000_000_000;
const EP = 'ep' as EndpointId;

/** Jobs of one shard. */
const IDS = Array.from({ length: 100 }, (_, n) => `job-${n}` as JobId).filter((id) => jobShard(id) === 3);
const [X, Y] = IDS as [JobId, JobId];

const version = (
  jobId: JobId,
  ...[recordSequence, state, milestones]: readonly [number, JobState, (readonly Milestone[])?]
): JobSighting => ({
  endpointId: EP,
  jobId,
  recordSequence,
  state,
  attempt: 1,
  charged: 0,
  notBeforeMs: T,
  isLowPriority: false,
  hasWebhook: false,
  createdAtMs: T,
  queuedAtMs: T,
  startedAtMs: null,
  deadlineAtMs: null,
  endedAtMs: null,
  expiresAtMs: T + 60_000,
  hostId: null,
  token: null,
  ...(milestones === undefined ? {} : { milestones }),
});

let view: JobView;

beforeEach(() => {
  view = new JobView();
  view.ledger.becomeWhole();
});

const tell = (sighting: JobSighting): void => {
  view.applyEvent(sighting);
  view.ledger.hear(sighting);
};
const completed = (): number => view.counts(EP).completed;
const inCheckpoint = (): number | undefined => view.ledger.settle()?.endpoints.get(EP)?.completed;

describe('the ledger of counters', () => {
  test('a checkpoint has what is counted, and a view that begins there counts none of it again', () => {
    tell(version(X, 1, 'IN_QUEUE'));
    tell(version(X, 2, 'COMPLETED'));
    expect(view.ledger.begin()).toBe(true);
    const checkpoint = view.ledger.settle();
    expect(checkpoint?.recordSequences[3]).toBe(2);

    view = new JobView();
    view.ledger.restore(checkpoint!);
    view.apply(version(X, 2, 'COMPLETED'));
    view.ledger.becomeWhole();
    expect(completed()).toBe(1);
    tell(version(X, 4, 'COMPLETED', [{ sequence: 2, state: 'COMPLETED', attempt: 1 }]));
    tell(version(Y, 5, 'COMPLETED'));
    expect(completed()).toBe(2);
  });

  test('a late milestone of a version that events passed over is in the checkpoint that is about to settle', () => {
    tell(version(X, 1, 'IN_PROGRESS'));
    tell(version(Y, 3, 'IN_QUEUE'));
    view.ledger.begin();
    tell(version(X, 4, 'COMPLETED', [{ sequence: 2, state: 'COMPLETED', attempt: 1 }]));
    tell(version(Y, 5, 'COMPLETED'));
    expect(inCheckpoint()).toBe(1);
    expect(completed()).toBe(2);
  });

  test('a record that was found ahead of its event is in the checkpoint, once events have come so far', () => {
    view.apply(version(X, 2, 'COMPLETED'));
    view.ledger.begin();
    expect(view.ledger.settle()).toBeNull();
    view.ledger.begin();
    tell(version(Y, 1, 'COMPLETED'));
    tell(version(X, 2, 'COMPLETED'));
    tell(version(Y, 3, 'IN_QUEUE'));
    expect(inCheckpoint()).toBe(2);
  });

  test('an event of a job that has gone, told again, neither counts nor brings the job back', () => {
    tell(version(X, 1, 'COMPLETED'));
    view.remove({ endpointId: EP, jobId: X }, T);
    tell(version(X, 1, 'COMPLETED'));
    expect(completed()).toBe(1);
    expect(view.find({ endpointId: EP, jobId: X })).toBeUndefined();
  });

  test('a record that is there a moment longer than its job was to live does not count again', () => {
    tell(version(X, 1, 'COMPLETED'));
    view.expire(T + 61_000);
    view.apply(version(X, 1, 'COMPLETED'));
    expect(completed()).toBe(1);
  });

  test('no checkpoint is begun or settled while something may be missing', () => {
    view.ledger.begin();
    view.ledger.interrupt();
    expect(view.ledger.settle()).toBeNull();
    expect(view.ledger.begin()).toBe(false);
    // Events jumped from 1 to 5 meanwhile; the records say what was in between.
    tell(version(X, 5, 'IN_QUEUE'));
    view.apply(version(Y, 3, 'COMPLETED'));
    expect(completed()).toBe(1);
    view.ledger.becomeWhole();
    view.ledger.begin();
    expect(inCheckpoint()).toBe(1);
  });

  test('a deleted endpoint leaves the checkpoint', () => {
    tell(version(X, 1, 'COMPLETED'));
    view.ledger.begin();
    view.forgetEndpoint(EP);
    expect(inCheckpoint()).toBeUndefined();
    view.ledger.begin();
    expect(inCheckpoint()).toBeUndefined();
  });
});
