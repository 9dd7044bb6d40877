import type { DeliveryData, JobData, LogFact, LogFactKind } from '@berth/domain';
import { countText, durationText, instantText } from '../formats/amounts.js';
import {
  bodyDetails,
  logTailDetails,
  payloadDetails,
  wordsDetails,
  type Detail,
  type PayloadChoice,
} from './payload-details.js';

/** A fact as it may be shown: tokens, key names and what is sealed are not in here. */
export interface FactView {
  readonly kind: string;
  readonly atMs: number;
  /** Null: it is about no single job. */
  readonly jobId: string | null;
  readonly attempt: number | null;
  readonly details: readonly Detail[];
}

type OfKind<Kind extends LogFactKind> = Extract<LogFact, { readonly kind: Kind }>;
type Tell<Kind extends LogFactKind> = (fact: OfKind<Kind>, choice: PayloadChoice) => readonly Detail[];
type AcceptedJob = OfKind<'submitted'>['job'];
type Taking = OfKind<'taken'>['taking'];

/** Everything that lies in a log as a fact has a view: where it lacks its members, one that says so. */
export function viewFact(fact: LogFact, choice: PayloadChoice): FactView {
  const { atMs, kind } = fact;
  if (!Object.hasOwn(TELL, kind)) return { kind, atMs, jobId: null, attempt: null, details: [STRANGE] };
  try {
    return { kind, atMs, ...subjectOf(fact), details: (TELL[kind] as Tell<LogFactKind>)(fact, choice) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind, atMs, jobId: null, attempt: null, details: [STRANGE] };
  }
}

const STRANGE: Detail = { name: 'isStrange', value: true, text: 'not a fact as owners write them' };

type Subject = Pick<FactView, 'jobId' | 'attempt'>;

function subjectOf(fact: LogFact): Subject {
  if (fact.kind === 'carried') return carriedSubject(fact);
  const jobId = jobIdOf(fact);
  // The value in the place of the id is shown as text, of whatever type it is.
  return { jobId: jobId === null ? null : String(jobId), attempt: attemptOf(fact) };
}

function jobIdOf(fact: Exclude<LogFact, OfKind<'carried'>>): string | null {
  if ('job' in fact) return fact.job.jobId;
  return 'jobId' in fact ? fact.jobId : null;
}

function attemptOf(fact: Exclude<LogFact, OfKind<'carried'>>): number | null {
  if ('taking' in fact) return fact.taking.attempt;
  if (fact.kind === 'cancelled') return fact.summary.attempt;
  return 'attempt' in fact ? fact.attempt : null;
}

function carriedSubject(fact: OfKind<'carried'>): Subject {
  if (fact.what === 'key') return { jobId: null, attempt: null };
  const { attempt, jobId } = fact.what === 'job' ? fact.job : fact.delivery;
  return { jobId, attempt };
}

const said = (name: string, value: Detail['value'], text = `${name} ${value}`): Detail => ({ name, value, text });
const instant = (name: string, atMs: number, word: string): Detail =>
  said(name, instantText(atMs), `${word} ${instantText(atMs)}`);

/** One row for each kind of fact. Only what is named here is shown. */
const TELL: { readonly [Kind in LogFactKind]: Tell<Kind> } = {
  submitted: ({ atMs, job }, choice) => acceptedDetails(job, atMs, choice),
  'born-taken': ({ atMs, job, taking }, choice) => [...takingDetails(taking), ...acceptedDetails(job, atMs, choice)],
  taken: ({ taking }) => takingDetails(taking),
  started: () => [],
  progressed: ({ output }, choice) => payloadDetails('output', output, choice),
  finished: finishedDetails,
  lost: lostDetails,
  cancelled: ({ summary }) => workerDetails(summary.workerId),
  'timed-out': ({ error, summary }) => [said('error', error, error), ...workerDetails(summary.workerId)],
  'let-go': ({ logTail, stoppedAtMs }, choice) => [
    instant('stoppedAt', stoppedAtMs, 'stopped'),
    ...logTailDetails(logTail, choice),
  ],
  retried: ({ atMs, next }) => nextDetails(next, atMs),
  'life-changed': ({ atMs, expiresAtMs, retentionMs }) => [
    ...lifeDetails(expiresAtMs, atMs),
    said('retentionMs', retentionMs, `kept ${durationText(retentionMs)} after its end`),
  ],
  purged: ({ count, isLast, through }) => [
    said('count', count, countText(count, 'job')),
    said('throughNormal', through.normal, `queue places through ${through.normal}`),
    said('throughLow', through.low, `low ${through.low}`),
    ...(isLast ? [] : [said('isLast', false, 'more to come')]),
  ],
  expired: ({ before, count }) => [
    said('count', count, countText(count, 'job')),
    instant('before', before.atMs, 'whose life ended by'),
  ],
  'delivery-tried': ({ untilMs }) => [instant('until', untilMs, 'its sender has until')],
  'delivery-ended': ({ nextAtMs, outcome, result }) => [
    ...(result.statusCode === null ? [] : [said('statusCode', result.statusCode, `answer ${result.statusCode}`)]),
    ...(result.error === null ? [] : [said('error', result.error, result.error)]),
    outcome === null ? instant('nextAt', nextAtMs, 'again at') : said('outcome', outcome, outcome),
  ],
  carried: carriedDetails,
  totals: ({ counters, covers, life }) => [
    said('covers', covers, `covers #${covers}`),
    said('term', life.term),
    ...COUNTERS.map((name) => said(name, counters[name], `${COUNTER_WORDS[name] ?? name} ${counters[name]}`)),
  ],
  opened: ({ routerId, term }) => [said('routerId', routerId, `by ${routerId}`), said('term', term)],
  'endpoint-deleted': ({ term }) => [said('term', term)],
};

const COUNTERS = ['completed', 'failed', 'cancelled', 'timedOut', 'retried'] as const;
const COUNTER_WORDS: Readonly<Record<string, string>> = { timedOut: 'timed out' };

function acceptedDetails(job: AcceptedJob, atMs: number, choice: PayloadChoice): readonly Detail[] {
  const { body, expiresAtMs, isLowPriority, key, origin, webhook } = job;
  return [
    said('origin', origin, origin),
    ...(isLowPriority ? [said('isLowPriority', true, 'low priority')] : []),
    ...bodyDetails(body, choice),
    ...lifeDetails(expiresAtMs, atMs),
    ...(webhook === null ? [] : [webhookDetail(webhook)]),
    ...(key === null ? [] : [said('keyItem', key.item, `item ${key.item + 1} of ${key.size} under a key`)]),
  ];
}

/** Its host alone: the rest of an address may be a secret between tenant and receiver. */
function webhookDetail(url: string): Detail {
  const host = URL.canParse(url) ? new URL(url).host : null;
  return said('webhookHost', host, `webhook ${host ?? 'that is no address'}`);
}

/** Null: it was with none. */
const workerDetails = (workerId: string | null): Detail[] =>
  workerId === null ? [] : [said('workerId', workerId, `worker ${workerId}`)];

const takingDetails = ({ hostId, workerId }: Taking): Detail[] => [
  ...workerDetails(workerId),
  said('hostId', hostId, `host ${hostId}`),
];

const lifeDetails = (expiresAtMs: number, atMs: number): Detail[] => [
  said('expiresAt', instantText(expiresAtMs), `lives ${durationText(expiresAtMs - atMs)}`),
];

const nextDetails = (next: Pick<JobData, 'queuePlace' | 'notBeforeMs'>, atMs: number): Detail[] => [
  said('queuePlace', next.queuePlace, `queue place ${next.queuePlace}`),
  said('notBefore', instantText(next.notBeforeMs), `in ${durationText(Math.max(0, next.notBeforeMs - atMs))}`),
];

function finishedDetails(fact: OfKind<'finished'>, choice: PayloadChoice): readonly Detail[] {
  const { chunks, error, logTail, output, state, summary } = fact;
  return [
    said('state', state, state),
    ...payloadDetails('output', output, choice),
    ...wordsDetails('error', error, choice),
    ...(chunks === 0 ? [] : [said('chunks', chunks, countText(chunks, 'chunk'))]),
    ...logTailDetails(logTail, choice),
    ...workerDetails(summary.workerId),
  ];
}

function lostDetails(fact: OfKind<'lost'>, choice: PayloadChoice): readonly Detail[] {
  const { atMs, charged, logTail, next, reason, unstarted } = fact;
  return [
    said('reason', reason, reason),
    said('charged', charged),
    ...(unstarted === 0 ? [] : [said('unstarted', unstarted)]),
    ...logTailDetails(logTail, choice),
    ...(next === null ? [said('isLast', true, 'its last attempt')] : nextDetails(next, atMs)),
  ];
}

function carriedDetails(fact: OfKind<'carried'>, choice: PayloadChoice): readonly Detail[] {
  const what = said('what', fact.what, fact.what);
  switch (fact.what) {
    case 'job':
      return [
        what,
        said('state', fact.job.state, fact.job.state),
        ...bodyDetails(fact.body, choice),
        ...payloadDetails('output', fact.output, choice),
      ];
    case 'key':
      return [what, said('accepted', fact.key.accepted, `${fact.key.accepted} of ${fact.key.size} accepted`)];
    case 'delivery':
      return [
        what,
        ...deliveryDetails(fact.delivery),
        ...(fact.body === null ? [] : bodyDetails(fact.body, choice)),
        ...payloadDetails('output', fact.output, choice),
      ];
    default:
      return fact satisfies never;
  }
}

const deliveryDetails = ({ outcome, tries, url }: DeliveryData): Detail[] => [
  webhookDetail(url),
  said('tries', tries.length, countText(tries.length, 'try', 'tries')),
  said('outcome', outcome, outcome ?? 'not over'),
];
