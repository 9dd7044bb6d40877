import type { AssignmentSnapshot } from '@berth/contracts';
import {
  CONTROL_SILENT_MS,
  type EndpointId,
  type EndpointOutlook,
  type HostId,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Staffing } from '../endpoint-directory/endpoint-directory.service.js';
import { JobView } from '../job-view/job-view.service.js';
import { QueueReasons, type QueuedJob } from './queue-reasons.service.js';

const ENDPOINT = 'ep' as EndpointId;

let clock: ManualClock;
let view: JobView;
let isWhole: boolean;
let staffing: Staffing;
let heardAtMs: number;
let reasons: QueueReasons;

beforeEach(() => {
  clock = new ManualClock();
  view = new JobView();
  isWhole = true;
  staffing = { assignment: null, workersMax: 3 };
  heardAtMs = clock.nowMs();
  reasons = new QueueReasons({
    view,
    clock,
    directory: { staffing: () => staffing },
    feed: {
      get isWhole() {
        return isWhole;
      },
    },
    pulse: {
      get heardAtMs() {
        return heardAtMs;
      },
    },
  });
});

const job = (id: string, more: Partial<QueuedJob> = {}): QueuedJob => ({
  id: id as JobId,
  endpointId: ENDPOINT,
  state: 'IN_QUEUE',
  attempt: 1,
  lowPriority: false,
  queuedAtMs: clock.nowMs(),
  notBeforeMs: clock.nowMs(),
  ...more,
});

/** The view sees it too. */
const seen = (id: string, more: Partial<QueuedJob> = {}): QueuedJob => {
  const queued = job(id, more);
  view.apply({
    endpointId: ENDPOINT,
    jobId: queued.id,
    recordSequence: 1,
    state: queued.state,
    attempt: 1,
    charged: 0,
    isLowPriority: queued.lowPriority,
    hasWebhook: false,
    createdAtMs: queued.queuedAtMs,
    queuedAtMs: queued.queuedAtMs,
    notBeforeMs: queued.notBeforeMs,
    expiresAtMs: clock.nowMs() + 3_600_000,
    startedAtMs: null,
    endedAtMs: null,
    deadlineAtMs: null,
    hostId: null,
    token: null,
  });
  return queued;
};

const assignment = (
  phases: readonly AssignmentSnapshot['workers'][number]['phase'][],
  outlook?: EndpointOutlook,
): AssignmentSnapshot => ({
  endpointId: ENDPOINT,
  workers: phases.map((phase, n) => ({ id: `w${n}` as WorkerId, hostId: 'h' as HostId, phase, isDraining: false })),
  ...(outlook === undefined ? {} : { outlook }),
});

describe('why a job waits', () => {
  test('is nothing that a job says which does not', () => {
    expect(reasons.of(job('a', { state: 'IN_PROGRESS' }))).toBeNull();
    expect(reasons.of(job('a', { state: 'COMPLETED' }))).toBeNull();
  });

  test('comes with its place, counted over both priorities', async () => {
    const low = seen('low', { lowPriority: true });
    seen('a');
    await clock.advance(10);
    const second = seen('b');
    staffing = { assignment: assignment(['busy', 'busy', 'busy']), workersMax: 3 };
    expect(reasons.of(second)).toEqual({
      position: 2,
      reason: 'at-max-workers',
      detail: '3 workers of at most 3 (workers.max) are there, busy',
      since: new Date(clock.nowMs()).toISOString(),
      estimatedStartMs: null,
    });
    expect(reasons.of(low)?.position).toBe(3);
  });

  test('comes without a place while the view may miss a job', () => {
    seen('a');
    isWhole = false;
    expect(reasons.of(seen('b'))).toMatchObject({ position: null, estimatedStartMs: null });
  });

  test('is what the control plane has told of the workers', () => {
    const sinceMs = clock.nowMs();
    staffing = {
      workersMax: 1,
      assignment: assignment(['waiting'], {
        desired: 1,
        scaling: { reason: 'from-zero', sinceMs },
        unplaced: null,
        coming: [
          {
            id: 'w0' as WorkerId,
            stage: 'delayed',
            reason: 'image-error',
            detail: '1 failed start: image-missing: no such image',
            nextStartAtMs: null,
            sinceMs,
            toldAtMs: sinceMs,
          },
        ],
      }),
    };
    expect(reasons.of(seen('a'))).toMatchObject({
      reason: 'image-error',
      detail: expect.stringMatching('no such image'),
    });
  });

  test('is unknown while the control plane is silent, and not longer', async () => {
    const waiting = seen('a');
    await clock.advance(CONTROL_SILENT_MS);
    expect(reasons.of(waiting)).toMatchObject({ reason: 'unknown', since: new Date(heardAtMs).toISOString() });
    heardAtMs = clock.nowMs();
    staffing = { assignment: assignment(['idle']), workersMax: 1 };
    expect(reasons.of(waiting)).toMatchObject({ reason: 'waiting-for-worker', estimatedStartMs: 0 });
  });
});
