import { describe, expect, test } from '@jest/globals';
import type { WorkerId } from '../ids.js';
import type { ComingWorker, EndpointOutlook, UnplacedWorkers } from './endpoint-outlook.js';
import { CONTROL_SILENT_MS, DECISION_MS, QUEUE_DETAIL_MAX, explainQueue } from './explain-queue.js';
import { QUEUE_REASONS, type QueueReason } from './queue-reason.js';
import type { QueueView, WorkerTally } from './queue-view.js';

const NOW = 1_000_000_000;
const QUEUED = NOW - 4_000;

const outlook = (more: Partial<EndpointOutlook> = {}): EndpointOutlook => ({
  desired: 1,
  scaling: { reason: 'demand', sinceMs: NOW - 3_000 },
  coming: [],
  unplaced: null,
  ...more,
});

const tally = (more: Partial<WorkerTally> = {}): WorkerTally => ({ idle: 0, busy: 0, coming: 0, leaving: 0, ...more });

const view = ({
  job,
  ...more
}: Partial<Omit<QueueView, 'job'>> & { job?: Partial<QueueView['job']> } = {}): QueueView => ({
  job: { attempt: 1, isLowPriority: false, notBeforeMs: QUEUED, queuedAtMs: QUEUED, ...job },
  position: 1,
  workersMax: 3,
  workers: tally(),
  outlook: null,
  running: 0,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
  controlHeardAtMs: NOW - 1_000,
  ...more,
});

const coming = (more: Partial<ComingWorker> = {}): ComingWorker => ({
  id: 'w1' as WorkerId,
  stage: 'preparing',
  reason: 'worker-starting',
  detail: 'the image is being pulled, 43 %',
  nextStartAtMs: null,
  sinceMs: NOW - 2_000,
  toldAtMs: NOW - 1_000,
  ...more,
});

const onTheWay = (...workers: readonly ComingWorker[]): Partial<QueueView> => ({
  workers: tally({ coming: workers.length }),
  outlook: outlook({ coming: workers }),
});

const unplaced = (more: Partial<UnplacedWorkers> = {}): Partial<QueueView> => ({
  outlook: outlook({
    unplaced: {
      count: 1,
      reason: 'gpu-type',
      detail: 'one host was looked at',
      sinceMs: NOW - 2_500,
      hosts: [{ id: 'h1', reason: 'gpu-type', detail: 'the host has no GPU of the wanted types, and none at all' }],
      ...more,
    },
  }),
});

const delayed = coming({
  stage: 'delayed',
  reason: 'worker-starting',
  detail: '2 failed starts in a row: the container exited with code 1',
  nextStartAtMs: NOW + 1_500,
});
const roomless = coming({
  ...{ stage: 'delayed', reason: 'throttled', nextStartAtMs: NOW + 1_500 },
  detail: "1 failed start: no-such-device: needs 1 × NVIDIA L4, but 0 of this host's 2 are free",
});
const imageMissing = coming({ stage: 'delayed', reason: 'image-error', detail: '1 failed start: no such image' });
const looping = (worker: ComingWorker) => ({
  ...onTheWay(worker),
  outlook: {
    ...outlook({ coming: [worker] }),
    crashLoop: { detail: 'release 2 does not come up: exit code 3', sinceMs: NOW - 1_500 },
  },
});
const OLD = NOW - DECISION_MS;
const SILENT = NOW - CONTROL_SILENT_MS;

type Case = readonly [string, Parameters<typeof view>[0], QueueReason, RegExp, sinceMs: number];

const CASES: readonly Case[] = [
  [
    'the delay between attempts runs',
    { job: { notBeforeMs: NOW + 900, attempt: 2 } },
    'retry-delay',
    /attempt 2 .* 1 s/,
    QUEUED,
  ],
  [
    'the delay runs, whatever else is so',
    { job: { notBeforeMs: NOW + 1 }, workersMax: 0 },
    'retry-delay',
    /1 s/,
    QUEUED,
  ],
  ['no worker may start', { workersMax: 0 }, 'workers-max-zero', /workers\.max .* 0/, QUEUED],
  ['the control plane is silent', { controlHeardAtMs: SILENT }, 'unknown', /silent since 1970-/, QUEUED],
  [
    'the control plane fell silent while the job waited',
    { job: { queuedAtMs: SILENT - 9_000 }, controlHeardAtMs: SILENT },
    'unknown',
    /silent since/,
    SILENT,
  ],
  [
    'the control plane is silent, and workers go on',
    { controlHeardAtMs: SILENT, running: 2, workers: tally({ busy: 2 }) },
    'waiting-for-worker',
    /2 workers busy/,
    QUEUED,
  ],
  [
    'no router is heard of',
    { outlook: outlook({ scaling: { reason: 'demand-unknown', sinceMs: NOW - 3_000 } }) },
    'unknown',
    /no router/,
    NOW - 3_000,
  ],
  [
    'an idle worker is there',
    { workers: tally({ idle: 1, coming: 1 }) },
    'waiting-for-worker',
    /^1 idle worker/,
    QUEUED,
  ],
  [
    'idle workers are there, and jobs before it',
    { workers: tally({ idle: 2 }), position: 9 },
    'waiting-for-worker',
    /2 idle workers .* 8 jobs before/,
    QUEUED,
  ],
  [
    'an idle worker is known, and has not asked for it for long',
    { workers: tally({ idle: 1 }), job: { notBeforeMs: NOW - 5_000, queuedAtMs: NOW - 9_000 } },
    'waiting-for-worker',
    /^1 idle worker known, and not asking for it: .* lost after 30 s$/,
    NOW - 9_000,
  ],
  ['all are busy', { workers: tally({ busy: 2 }) }, 'waiting-for-worker', /^2 workers busy$/, QUEUED],
  [
    'all are busy, and another fails to start',
    { ...onTheWay(imageMissing), workers: tally({ busy: 2, coming: 1 }) },
    'waiting-for-worker',
    /1 not ready/,
    QUEUED,
  ],
  ['the maximum is busy', { workers: tally({ busy: 3 }) }, 'at-max-workers', /3 workers of at most 3/, QUEUED],
  [
    'the maximum is busy, and more are wanted since a while',
    { workers: tally({ busy: 3 }), outlook: outlook({ scaling: { reason: 'at-max', sinceMs: NOW - 1_000 } }) },
    'at-max-workers',
    /workers\.max/,
    NOW - 1_000,
  ],
  ['the maximum is leaving', { workers: tally({ leaving: 3 }) }, 'at-max-workers', /leaving \(3\)/, QUEUED],
  [
    'all are busy and no other has a place',
    { ...unplaced(), workers: tally({ busy: 1 }) },
    'no-capacity',
    /h1/,
    NOW - 2_500,
  ],
  ['no host fits', unplaced(), 'no-capacity', /h1 \(gpu-type\): the host has no GPU/, NOW - 2_500],
  [
    'nothing could fit',
    unplaced({ reason: 'no-eligible-type', hosts: [] }),
    'no-capacity',
    /no-eligible-type: one/,
    NOW - 2_500,
  ],
  [
    'the account may have no more',
    unplaced({
      ...{ count: 2, reason: 'account-quota', hosts: [] },
      detail: 'The account may have 3 workers (account limit workers), and has 3',
    }),
    'account-quota',
    /^2 wanted workers not placed: The account may have 3 workers \(account limit workers\), and has 3$/,
    NOW - 2_500,
  ],
  ['no host is there', unplaced({ reason: 'no-hosts', hosts: [] }), 'no-hosts', /no host/, NOW - 2_500],
  ['a worker starts', onTheWay(coming()), 'worker-starting', /w1: the image is being pulled, 43 %/, NOW - 2_000],
  [
    'a worker starts, and nothing more is known',
    { workers: tally({ coming: 1 }) },
    'worker-starting',
    /on its way/,
    QUEUED,
  ],
  [
    'starts are delayed',
    onTheWay(delayed),
    'start-delayed',
    /^next start in 2 s; worker w1: 2 failed starts/,
    NOW - 2_000,
  ],
  ['the image is not there', onTheWay(imageMissing), 'image-error', /no such image/, NOW - 2_000],
  ['one fails, another starts', onTheWay(imageMissing, delayed, coming()), 'worker-starting', /pulled/, NOW - 2_000],
  ['one has no image, another is delayed', onTheWay(imageMissing, delayed), 'start-delayed', /exited/, NOW - 2_000],
  ['its host has no room', onTheWay(roomless), 'throttled', /^next start in 2 s; worker w1: .*0 of/, NOW - 2_000],
  ['one host has no room, another is delayed', onTheWay(roomless, delayed), 'start-delayed', /exited/, NOW - 2_000],
  [
    'its release does not come up, between two tries',
    looping(delayed),
    'image-error',
    /^next start in 2 s; release 2 does not come up: exit code 3$/,
    NOW - 1_500,
  ],
  [
    'its release does not come up, in the middle of a try',
    looping(coming()),
    'image-error',
    /^release 2 does not come up/,
    NOW - 1_500,
  ],
  [
    'the older workers are busy, and no other is made',
    { ...looping(delayed), workers: tally({ busy: 1, coming: 1 }) },
    'waiting-for-worker',
    /^1 worker busy, and 1 not ready yet; no other is made: release 2 does not come up/,
    QUEUED,
  ],
  ['nobody wants a worker for it', { job: { isLowPriority: true } }, 'low-priority', /low priority/, QUEUED],
  [
    'it is low, and a worker comes',
    { ...onTheWay(coming()), job: { isLowPriority: true } },
    'worker-starting',
    /pulled/,
    NOW - 2_000,
  ],
  ['it was just queued', {}, 'awaiting-decision', /about to decide/, QUEUED],
  ['nobody decides', { job: { queuedAtMs: OLD, notBeforeMs: OLD } }, 'unknown', /said nothing/, OLD],
];

describe('a job waits because', () => {
  test.each(CASES)('%s', (...[, given, reason, detail, sinceMs]) => {
    expect(explainQueue(view(given), NOW)).toMatchObject({
      reason,
      detail: expect.stringMatching(detail) as unknown,
      sinceMs,
    });
  });

  test('every reason has a case', () => {
    expect(new Set(CASES.map(([, , reason]) => reason))).toEqual(new Set(QUEUE_REASONS));
  });

  test('the detail is bounded', () => {
    const hosts = Array.from({ length: 50 }, () => ({ id: 'host', reason: 'vcpu', detail: 'x'.repeat(300) }));
    expect(explainQueue(view(unplaced({ hosts })), NOW).detail).toHaveLength(QUEUE_DETAIL_MAX);
  });
});

describe('the estimate', () => {
  const paced = { endedLastMinute: 10, executionMsLastMinute: 20_000, running: 4, workers: tally({ busy: 2 }) };

  test.each<[string, Parameters<typeof view>[0], number | null]>([
    ['is the mean execution over what runs at one time, for each job before', { ...paced, position: 6 }, 3_000],
    ['is nothing for a job that an idle worker takes', { workers: tally({ idle: 2 }), position: 2 }, 0],
    ['counts the delay between attempts', { workers: tally({ idle: 2 }), job: { notBeforeMs: NOW + 700 } }, 700],
    ['is not made without a measure', { workers: tally({ busy: 2 }), running: 2 }, null],
    ['is not made while nothing runs', { ...paced, running: 0 }, null],
    ['is not made without a worker', { ...paced, workers: tally({ coming: 2 }) }, null],
    ['is not made without a position', { ...paced, position: null }, null],
  ])('%s', (_, given, expected) => {
    expect(explainQueue(view(given), NOW).estimatedStartMs).toBe(expected);
  });
});
