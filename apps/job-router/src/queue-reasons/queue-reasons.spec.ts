import type { AssignedWorker, AssignmentSnapshot, ListedQueue } from '@berth/contracts';
import {
  CONTROL_SILENT_MS,
  type EndpointId,
  type EndpointOutlook,
  type HostId,
  type QueueSight,
  type WorkerId,
} from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { jobSight } from '../../test/model/scripted-jobs.js';
import type { AssignedStaff } from '../directory/index.js';
import { QueueReasons } from './queue-reasons.js';

const ENDPOINT = 'ep' as EndpointId;
const FIRST: QueueSight = { position: 1, running: 0, endedLastMinute: 0, executionMsLastMinute: 0 };

let clock: ManualClock;
let staffing: AssignedStaff;
let heardAtMs: number;
let reasons: QueueReasons;

beforeEach(() => {
  clock = new ManualClock();
  staffing = { assignment: null, workersMax: 3 };
  heardAtMs = clock.nowMs();
  reasons = new QueueReasons({
    clock,
    directory: { staffing: () => staffing },
    pulse: {
      get heardAtMs() {
        return heardAtMs;
      },
    },
  });
});

const queued = (more: Partial<ListedQueue> = {}): ListedQueue => ({
  ...FIRST,
  attempt: 1,
  isLowPriority: false,
  queuedAtMs: clock.nowMs(),
  notBeforeMs: clock.nowMs(),
  ...more,
});

const assignment = (phases: readonly AssignedWorker['phase'][], outlook?: EndpointOutlook): AssignmentSnapshot => ({
  endpointId: ENDPOINT,
  workers: phases.map((phase, n) => ({ id: `w${n}` as WorkerId, hostId: 'h' as HostId, phase, isDraining: false })),
  ...(outlook === undefined ? {} : { outlook }),
});

describe('why a job waits', () => {
  test('is nothing that a job says which does not', () => {
    expect(reasons.of(ENDPOINT, null)).toBeNull();
    expect(reasons.ofSight(jobSight({ state: 'IN_PROGRESS' }))).toBeNull();
  });

  test('comes with its place, and is the same from a list and of one job', () => {
    staffing = { assignment: assignment(['busy', 'busy', 'busy']), workersMax: 3 };
    const told = {
      position: 2,
      reason: 'at-max-workers',
      detail: '3 workers of at most 3 (workers.max) are there, busy',
      since: new Date(clock.nowMs()).toISOString(),
      estimatedStartMs: null,
    };
    expect(reasons.of(ENDPOINT, queued({ position: 2 }))).toEqual(told);
    expect(reasons.ofSight(jobSight({ queue: { ...FIRST, position: 2 } }))).toEqual(told);
  });

  test('says when it may start, by the pace of the last minute', () => {
    staffing = { assignment: assignment(['busy']), workersMax: 1 };
    const paced = queued({ position: 2, running: 1, endedLastMinute: 3, executionMsLastMinute: 9_000 });
    expect(reasons.of(ENDPOINT, paced)?.estimatedStartMs).toBe(6_000);
  });

  test('comes without a place while that is not known', () => {
    expect(reasons.of(ENDPOINT, queued({ position: null }))).toMatchObject({ position: null, estimatedStartMs: null });
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
    expect(reasons.of(ENDPOINT, queued())).toMatchObject({
      reason: 'image-error',
      detail: expect.stringMatching('no such image'),
    });
  });

  test('is unknown while the control plane is silent, and not longer', async () => {
    const waiting = queued();
    await clock.advance(CONTROL_SILENT_MS);
    expect(reasons.of(ENDPOINT, waiting)).toMatchObject({
      reason: 'unknown',
      since: new Date(heardAtMs).toISOString(),
    });
    heardAtMs = clock.nowMs();
    staffing = { assignment: assignment(['idle']), workersMax: 1 };
    expect(reasons.of(ENDPOINT, waiting)).toMatchObject({ reason: 'waiting-for-worker', estimatedStartMs: 0 });
  });
});
