import type { JobId } from '../ids.js';
import type { JobState } from '../job/index.js';
import type { LogFact, LogFactKind } from './facts.js';
import { deliveryName, type EndpointState } from './state.js';

/** The subject of a fact, and the state in which that is. */
export type FactSubject =
  'endpoint' | 'deleted-endpoint' | 'no-job' | JobState | 'no-delivery' | 'delivery-waits' | 'delivery-is-tried';

/** Which facts each state allows. A fact that is not listed is illegal: the endpoint stops, and nothing is guessed. */
export const LEGAL_FACTS: Readonly<Record<FactSubject, readonly LogFactKind[]>> = {
  endpoint: ['opened', 'purged', 'expired', 'totals', 'endpoint-deleted', 'carried'],
  'deleted-endpoint': ['opened', 'endpoint-deleted'],
  'no-job': ['submitted', 'born-taken'],
  IN_QUEUE: ['taken', 'cancelled', 'life-changed'],
  IN_PROGRESS: ['started', 'progressed', 'finished', 'lost', 'cancelled', 'timed-out', 'life-changed'],
  COMPLETED: ['life-changed'],
  FAILED: ['retried', 'life-changed'],
  CANCELLED: ['let-go', 'life-changed'],
  TIMED_OUT: ['retried', 'let-go', 'life-changed'],
  'no-delivery': [],
  'delivery-waits': ['delivery-tried'],
  // A try whose sender was lost is followed by the next, and its end by the sender or by the owner that finds it lost.
  'delivery-is-tried': ['delivery-tried', 'delivery-ended'],
};

export const isLegal = (state: EndpointState, fact: LogFact): boolean =>
  LEGAL_FACTS[subjectOf(state, fact)].includes(fact.kind);

/** The subject of each kind of fact. */
const ABOUT = {
  opened: 'endpoint',
  purged: 'endpoint',
  expired: 'endpoint',
  totals: 'endpoint',
  'endpoint-deleted': 'endpoint',
  carried: 'endpoint',
  submitted: 'job',
  'born-taken': 'job',
  taken: 'job',
  started: 'job',
  progressed: 'job',
  finished: 'job',
  lost: 'job',
  cancelled: 'job',
  'timed-out': 'job',
  'let-go': 'job',
  retried: 'job',
  'life-changed': 'job',
  'delivery-tried': 'delivery',
  'delivery-ended': 'delivery',
} as const satisfies Record<LogFactKind, 'endpoint' | 'job' | 'delivery'>;

export function subjectOf(state: EndpointState, fact: LogFact): FactSubject {
  if (state.isDeleted) return 'deleted-endpoint';
  const about = ABOUT[fact.kind];
  switch (about) {
    case 'endpoint':
      return 'endpoint';
    case 'job':
      return state.jobs.get(jobIdOf(fact))?.data.state ?? 'no-job';
    case 'delivery': {
      const delivery = 'attempt' in fact ? state.deliveries.get(deliveryName(fact.jobId, fact.attempt)) : undefined;
      if (delivery === undefined) return 'no-delivery';
      return delivery.data.claim === null ? 'delivery-waits' : 'delivery-is-tried';
    }
    default:
      return about satisfies never;
  }
}

/** Empty for a fact that is about no single job: no job has that id. */
function jobIdOf(fact: LogFact): JobId {
  if (fact.kind === 'submitted' || fact.kind === 'born-taken') return fact.job.jobId;
  return 'jobId' in fact ? fact.jobId : ('' as JobId);
}
