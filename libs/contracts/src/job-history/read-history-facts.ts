import { isHistoryFact, type HistoryFact, type LogFact } from '@berth/domain';
import {
  count,
  id,
  instant,
  listOf,
  objectOf,
  oneOf,
  orNull,
  readAs,
  readShape,
  text,
  unreadable,
  type Reading,
  type Shape,
} from '@berth/domain/shape';

type OfKind<Kind extends HistoryFact['kind']> = Extract<HistoryFact, { readonly kind: Kind }>;

/** Far above what the bounds of a fact let through, which are bytes: empty lines take one each. */
const FACT_LOG_LINES_MAX = 10_000;

/** In whole ms, and such that every calendar knows it: later than any clock is still far from what a database can tell. */
const MOMENT_MAX_MS = 1e14;
const moment: Shape = (value, path) =>
  count(value, path) === null && Number(value) <= MOMENT_MAX_MS
    ? null
    : `${path} must be an instant in Unix milliseconds`;

const JOB = { kind: text(), atMs: moment, jobId: id } as const;
const LOG_TAIL = listOf(text(), FACT_LOG_LINES_MAX);
const SUMMARY = objectOf<OfKind<'cancelled'>['summary']>({
  origin: oneOf(['run', 'runsync']),
  createdAtMs: moment,
  queuedAtMs: moment,
  attempt: count,
  startedAtMs: orNull(moment),
  hostId: orNull(id),
  workerId: orNull(id),
  webhook: orNull(text()),
});
const NEXT = objectOf<NonNullable<OfKind<'lost'>['next']>>({ queuePlace: count, notBeforeMs: instant });

const SHAPES: Readonly<Record<HistoryFact['kind'], Shape>> = {
  finished: objectOf<OfKind<'finished'>>({
    ...JOB,
    state: oneOf(['COMPLETED', 'FAILED', 'TIMED_OUT']),
    error: orNull(text()),
    logTail: LOG_TAIL,
    summary: SUMMARY,
  }),
  lost: objectOf<OfKind<'lost'>>({
    ...JOB,
    reason: text(),
    next: orNull(NEXT),
    error: orNull(text()),
    logTail: LOG_TAIL,
    summary: SUMMARY,
  }),
  'timed-out': objectOf<OfKind<'timed-out'>>({ ...JOB, error: text(), summary: SUMMARY }),
  cancelled: objectOf<OfKind<'cancelled'>>({ ...JOB, summary: SUMMARY }),
  'let-go': objectOf<OfKind<'let-go'>>({
    ...JOB,
    attempt: count,
    createdAtMs: moment,
    stoppedAtMs: instant,
    logTail: LOG_TAIL,
  }),
  retried: objectOf<OfKind<'retried'>>({ ...JOB, attempt: count, createdAtMs: moment }),
};

/**
 * Those facts of a batch of which the job history is made, checked as far as it uses them: routers write them, perhaps of
 * another version. One that is none makes the batch unreadable; what the history has no use for is not looked at.
 */
export function readHistoryFacts(facts: readonly LogFact[]): Reading<readonly HistoryFact[]> {
  const found: HistoryFact[] = [];
  for (const [index, fact] of facts.entries()) {
    if (!isHistoryFact(fact)) continue;
    const reading = readShape<HistoryFact>(SHAPES[fact.kind], fact);
    if (reading.kind === 'unreadable') return unreadable(`fact ${index} (${fact.kind}): ${reading.reason}`);
    found.push(reading.value);
  }
  return readAs(found);
}
