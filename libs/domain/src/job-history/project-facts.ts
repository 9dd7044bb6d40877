import { endingOf, type LogFact } from '../endpoint-jobs/index.js';
import type { EndpointId } from '../ids.js';
import { isEnded, withAttempt, withStop, type AttemptPlace, type AttemptRecord } from '../job/index.js';
import { describeJob, toldAttempt, type JobDetail, type ToldJob } from '../job-summary/index.js';
import type { HistoryRow, RowPlace } from './history-row.js';

type OfKind<Kind extends LogFact['kind']> = Extract<LogFact, { readonly kind: Kind }>;
type Base = 'kind' | 'atMs' | 'jobId';

type EndFact =
  | Pick<OfKind<'finished'>, Base | 'state' | 'error' | 'logTail' | 'summary'>
  | Pick<OfKind<'lost'>, Base | 'reason' | 'next' | 'error' | 'logTail' | 'summary'>
  | Pick<OfKind<'timed-out'>, Base | 'error' | 'summary'>
  | Pick<OfKind<'cancelled'>, Base | 'summary'>;
type LetGoFact = Pick<OfKind<'let-go'>, Base | 'attempt' | 'createdAtMs' | 'stoppedAtMs' | 'logTail'>;
type RetriedFact = Pick<OfKind<'retried'>, Base | 'attempt' | 'createdAtMs'>;

/**
 * The facts of which the history is made. All else that the log tells is of jobs that live, or is told again by an end.
 */
export type HistoryFact = EndFact | LetGoFact | RetriedFact;

const KINDS: ReadonlySet<string> = new Set<HistoryFact['kind']>([
  'finished',
  'lost',
  'timed-out',
  'cancelled',
  'let-go',
  'retried',
]);

export const isHistoryFact = (fact: LogFact): fact is OfKind<HistoryFact['kind']> => KINDS.has(fact.kind);

/** Of one batch of one endpoint's log, in order. */
export interface EndpointFacts {
  readonly endpointId: EndpointId;
  readonly facts: readonly HistoryFact[];
}

/** Rows upon which the facts build: those of jobs that were tried before, or have ended. */
export function rowsBefore(batches: readonly EndpointFacts[]): readonly RowPlace[] {
  const places = new Map<string, RowPlace>();
  for (const { endpointId, facts } of batches) {
    for (const fact of facts) {
      if ('summary' in fact && fact.summary.attempt === 1) continue;
      const place = { endpointId, jobId: fact.jobId, createdAtMs: createdAtMsOf(fact) };
      places.set(nameOf(place), place);
    }
  }
  return [...places.values()];
}

/**
 * The rows that the facts change, as they are from then on. The same facts, come upon once more, change nothing.
 *
 * @param batches in the order of the log
 * @param known the rows of `rowsBefore`, as far as there are any
 */
export function projectFacts(batches: readonly EndpointFacts[], known: readonly HistoryRow[]): readonly HistoryRow[] {
  const rows = new Map(known.map((row) => [nameOf({ endpointId: row.endpointId, ...row.job }), row]));
  const changed = new Set<string>();
  for (const { endpointId, facts } of batches) {
    for (const fact of facts) {
      const name = nameOf({ endpointId, jobId: fact.jobId, createdAtMs: createdAtMsOf(fact) });
      const job = projectFact(rows.get(name), fact);
      if (job === null) continue;
      rows.set(name, { endpointId, ...job });
      changed.add(name);
    }
  }
  return [...changed].flatMap((name) => rows.get(name) ?? []);
}

const createdAtMsOf = (fact: HistoryFact): number => ('summary' in fact ? fact.summary : fact).createdAtMs;
const nameOf = ({ createdAtMs, endpointId, jobId }: RowPlace): string => `${endpointId}/${jobId}/${createdAtMs}`;

type Projected = Pick<HistoryRow, 'job' | 'attempt'>;

/** Null: the row says that already, or something newer; or nothing is known that the fact builds upon. */
function projectFact(row: HistoryRow | undefined, fact: HistoryFact): Projected | null {
  switch (fact.kind) {
    case 'finished':
    case 'lost':
    case 'timed-out':
    case 'cancelled':
      return withEnd(row, fact);
    case 'let-go':
      return withLetGo(row, fact);
    case 'retried':
      return withRetry(row, fact);
    default:
      return fact satisfies never;
  }
}

function withEnd(row: HistoryRow | undefined, fact: EndFact): Projected | null {
  const { atMs, jobId, summary } = fact;
  const { attempt, createdAtMs, origin, queuedAtMs, webhook } = summary;
  if (row !== undefined && (row.attempt > attempt || (row.attempt === attempt && isEnded(row.job.status)))) return null;
  const ending = endingOf(fact);
  const current = placeOf(summary);
  const earlier = row === undefined ? [] : attemptsOf(row.job).filter((each) => each.attempt < attempt);
  const history = withAttempt({ attempt, current, history: earlier }, { ...ending, nowMs: atMs });
  const told = { jobId, createdAtMs, origin, webhook, history };
  if (ending.outcome === 'lost') return queued({ ...told, attempt: attempt + 1, atMs });
  const { error, outcome: state } = ending;
  const job: ToldJob = { ...told, state, attempt, current, queuedAtMs, endedAtMs: atMs, error };
  return { job: describeJob(job, atMs), attempt };
}

function placeOf({ hostId, startedAtMs, workerId }: EndFact['summary']): AttemptPlace | null {
  return hostId === null || startedAtMs === null || workerId === null ? null : { hostId, startedAtMs, workerId };
}

/** An attempt that was still running when the row was written has no end there. */
const attemptsOf = ({ attemptList }: JobDetail): readonly AttemptRecord[] =>
  attemptList.flatMap((each) => (isOver(each) ? [each] : []));

const isOver = (each: JobDetail['attemptList'][number]): each is AttemptRecord =>
  each.endedAtMs !== null && each.outcome !== null && each.reason !== null;

/** A job that waits again is told to nobody: its row keeps the attempts so far for the end that will come. */
function queued({
  atMs,
  ...job
}: Omit<ToldJob, 'state' | 'current' | 'queuedAtMs' | 'endedAtMs' | 'error'> & { readonly atMs: number }): Projected {
  const waiting: ToldJob = {
    ...job,
    state: 'IN_QUEUE',
    current: null,
    queuedAtMs: atMs,
    endedAtMs: null,
    error: null,
  };
  return { job: describeJob(waiting, atMs), attempt: job.attempt };
}

function withLetGo(row: HistoryRow | undefined, { attempt, logTail, stoppedAtMs }: LetGoFact): Projected | null {
  if (row?.attempt !== attempt || !isEnded(row.job.status)) return null;
  const history = attemptsOf(row.job);
  const last = history.at(-1);
  if (last?.attempt !== attempt || last.stoppedAtMs !== null) return null;
  const attemptList = withStop(history, { stoppedAtMs, logTail }).map(toldAttempt);
  return { job: { ...row.job, attemptList }, attempt };
}

function withRetry(row: HistoryRow | undefined, { atMs, attempt }: RetriedFact): Projected | null {
  if (row === undefined || row.attempt >= attempt) return null;
  const { createdAtMs, jobId, origin, webhook } = row.job;
  return queued({ jobId, createdAtMs, origin, webhook, history: attemptsOf(row.job), attempt, atMs });
}
