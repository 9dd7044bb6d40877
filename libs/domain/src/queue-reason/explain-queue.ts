import { HOST_LOST_MS } from '../host/index.js';
import { throttledCount } from '../worker/index.js';
import { clipText } from './clip-text.js';
import { comingWord, type ComingWord } from './coming-word.js';
import type { ComingWorker, UnplacedWorkers } from './endpoint-outlook.js';
import { estimateStartMs } from './estimate-start.js';
import type { QueueReason } from './queue-reason.js';
import { isUntaken, type QueueView } from './queue-view.js';

/** Without a sign of life for this long the control plane counts as silent. A new leader is found sooner. */
export const CONTROL_SILENT_MS = 10_000;

/** A decision about a job that is queued takes a second or two; what takes longer is not a matter of patience. */
export const DECISION_MS = 10_000;

export const QUEUE_DETAIL_MAX = 500;

/** The explanation why a job waits. */
export interface QueueExplanation {
  readonly position: number | null;
  readonly reason: QueueReason;
  /** For people: a sentence without its full stop. */
  readonly detail: string;
  /** Since when the reason holds for this job. */
  readonly sinceMs: number;
  /** Null where nothing honest can be said. */
  readonly estimatedStartMs: number | null;
}

interface Finding {
  readonly reason: QueueReason;
  readonly detail: string;
  /** Null: since the job was queued. */
  readonly sinceMs: number | null;
}

/** Null where the question does not apply. */
type Question = (view: QueueView, nowMs: number) => Finding | null;

/** Why a job waits: the first question that applies. Exactly one reason for whatever is seen. */
export function explainQueue(view: QueueView, nowMs: number): QueueExplanation {
  const { job, position } = view;
  const { detail, reason, sinceMs } = firstFinding(view, nowMs);
  return {
    position,
    reason,
    detail: clipText(detail, QUEUE_DETAIL_MAX),
    sinceMs: Math.round(Math.min(nowMs, Math.max(job.queuedAtMs, sinceMs ?? 0))),
    estimatedStartMs: estimateStartMs(view, nowMs),
  };
}

function firstFinding(view: QueueView, nowMs: number): Finding {
  for (const ask of QUESTIONS) {
    const finding = ask(view, nowMs);
    if (finding !== null) return finding;
  }
  return undecided(view, nowMs);
}

const isDelayed: Question = ({ job }, nowMs) =>
  nowMs >= job.notBeforeMs
    ? null
    : {
        reason: 'retry-delay',
        detail: `attempt ${job.attempt} starts ${inSeconds(job.notBeforeMs - nowMs)} from now at the earliest, because the last attempt was lost`,
        sinceMs: null,
      };

const isForbidden: Question = ({ workersMax }) =>
  workersMax > 0
    ? null
    : { reason: 'workers-max-zero', detail: 'workers.max of the endpoint is 0, so no worker may start', sinceMs: null };

/** Running jobs prove that workers go on without the control plane. */
const isControlSilent: Question = ({ controlHeardAtMs, running }, nowMs) =>
  nowMs - controlHeardAtMs < CONTROL_SILENT_MS || running > 0
    ? null
    : {
        reason: 'unknown',
        detail: `the control plane has been silent since ${inWords(controlHeardAtMs)}, so nothing is known of workers`,
        sinceMs: controlHeardAtMs,
      };

/** The control plane lives, and has not heard of the jobs. */
const isDemandUnknown: Question = ({ outlook, workers }) =>
  outlook?.scaling.reason !== 'demand-unknown' || workers.idle + workers.busy + workers.coming > 0
    ? null
    : {
        reason: 'unknown',
        detail: 'no router has told the control plane lately which jobs wait',
        sinceMs: outlook.scaling.sinceMs,
      };

const isIdleThere: Question = (view, nowMs) => {
  const { position, workers } = view;
  if (workers.idle === 0) return null;
  if (isUntaken(view, nowMs)) {
    const those = count(workers.idle, 'idle worker');
    const detail = `${those} known, and not asking for it: a host that is away counts as lost after ${inSeconds(HOST_LOST_MS)}`;
    return { reason: 'waiting-for-worker', detail, sinceMs: null };
  }
  const before = position === null || position === 1 ? '' : `, and ${count(position - 1, 'job')} before this one`;
  return {
    reason: 'waiting-for-worker',
    detail: `${count(workers.idle, 'idle worker')} will take it${before}`,
    sinceMs: null,
  };
};

const isAtMax: Question = ({ outlook, workers, workersMax }) => {
  const { busy, coming, leaving } = workers;
  if (coming > 0 || busy + leaving < workersMax) return null;
  const leave = leaving === 0 ? '' : ` or leaving (${leaving})`;
  return {
    reason: 'at-max-workers',
    detail: `${count(busy + leaving, 'worker')} of at most ${workersMax} (workers.max) are there, busy${leave}`,
    sinceMs: outlook?.scaling.reason === 'at-max' ? outlook.scaling.sinceMs : null,
  };
};

/** Told where workers are `THROTTLED`, and none of the others is on its way. */
const isUnplaced: Question = ({ outlook, workers }) =>
  outlook?.unplaced == null || throttledCount(outlook.unplaced) === 0 || workers.coming > 0
    ? null
    : findUnplaced(outlook.unplaced);

/** Its one worker goes on trying, now on its way and now delayed; the reason does not change with each try. */
const isCrashLooping: Question = ({ outlook, workers: { busy } }, nowMs) => {
  if (outlook?.crashLoop === undefined || busy > 0) return null;
  const { detail, sinceMs } = outlook.crashLoop;
  const nextMs = Math.max(0, ...outlook.coming.map(({ nextStartAtMs }) => nextStartAtMs ?? 0));
  const next = nextMs > nowMs ? `next start in ${inSeconds(nextMs - nowMs)}; ` : '';
  return { reason: 'image-error', detail: `${next}${detail}`, sinceMs };
};

/** A worker that fails to start beside one that takes jobs is not what the job waits for. */
const isBusy: Question = ({ outlook, workers: { busy, coming } }) => {
  if (busy === 0) return null;
  const others = coming === 0 ? '' : `, and ${coming} not ready yet`;
  const halted = outlook?.crashLoop === undefined ? '' : `; no other is made: ${outlook.crashLoop.detail}`;
  return { reason: 'waiting-for-worker', detail: `${count(busy, 'worker')} busy${others}${halted}`, sinceMs: null };
};

const isComing: Question = ({ outlook, workers }, nowMs) => {
  if (workers.coming === 0) return null;
  const [nearest] = (outlook?.coming ?? []).toSorted((a, b) => LIKELIHOOD[comingWord(a)] - LIKELIHOOD[comingWord(b)]);
  if (nearest === undefined) return { reason: 'worker-starting', detail: 'a worker is on its way', sinceMs: null };
  return { reason: comingWord(nearest), detail: detailOf(nearest, nowMs), sinceMs: nearest.sinceMs };
};

const isLow: Question = ({ job }) =>
  job.isLowPriority
    ? {
        reason: 'low-priority',
        detail: 'no worker is there, and a job of low priority starts none: it waits for one that other demand brings',
        sinceMs: null,
      }
    : null;

const QUESTIONS: readonly Question[] = [
  isDelayed,
  isForbidden,
  isControlSilent,
  isDemandUnknown,
  isIdleThere,
  isAtMax,
  isUnplaced,
  isCrashLooping,
  isBusy,
  isComing,
  isLow,
];

function undecided({ job }: QueueView, nowMs: number): Finding {
  if (nowMs - job.queuedAtMs < DECISION_MS) {
    return { reason: 'awaiting-decision', detail: 'the control plane is about to decide on a worker', sinceMs: null };
  }
  return {
    reason: 'unknown',
    detail: `the control plane has said nothing of a worker since the job was queued at ${inWords(job.queuedAtMs)}`,
    sinceMs: null,
  };
}

/** Smallest: most likely to end well, and so what the job waits for. */
const LIKELIHOOD: Readonly<Record<ComingWord, number>> = {
  'worker-starting': 0,
  'start-delayed': 1,
  throttled: 2,
  'image-error': 3,
};

function detailOf(coming: ComingWorker, nowMs: number): string {
  const { detail, id, nextStartAtMs } = coming;
  const leftMs = nextStartAtMs === null ? 0 : nextStartAtMs - nowMs;
  const next = leftMs > 0 ? `next start in ${inSeconds(leftMs)}; ` : '';
  return `${comingWord(coming) === 'worker-starting' ? '' : next}worker ${id}: ${detail}`;
}

function findUnplaced({ count: wanted, detail, hosts, reason, sinceMs }: UnplacedWorkers): Finding {
  if (reason === 'no-hosts') return { reason, detail: 'no host has been added to this installation', sinceMs };
  if (reason === 'account-quota') {
    return { reason, detail: `${count(wanted, 'wanted worker')} not placed: ${detail}`, sinceMs };
  }
  const each = hosts.map((host) => `${host.id} (${host.reason}): ${host.detail}`).join('; ');
  const why = each === '' ? `${reason}: ${detail}` : each;
  return { reason: 'no-capacity', detail: `no host for ${count(wanted, 'wanted worker')}: ${why}`, sinceMs };
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const inSeconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1000))} s`;

const inWords = (ms: number): string => new Date(ms).toISOString();
