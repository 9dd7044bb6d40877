import { JOB_STATES, livingLogBytes, type EndpointCounters, type EndpointState, type JobState } from '@berth/domain';

/** The content of a log, and the sum of its facts. */
export interface LogSum {
  readonly batches: number;
  readonly facts: number;
  /** Of facts. */
  readonly bytes: number;
  /** Sequence of the first entry, and of the last one; null: there is none. */
  readonly first: number | null;
  readonly last: number | null;
  /** Null: nothing could be replayed. */
  readonly state: StateSum | null;
}

/** An endpoint as the last fact that could be applied left it. */
export interface StateSum {
  /** False: there was a fault, and what lies behind it is not in here. */
  readonly isComplete: boolean;
  readonly lastAtMs: number;
  readonly term: number;
  readonly isDeleted: boolean;
  readonly jobs: Readonly<Record<JobState, number>>;
  /** Inputs and outputs of living jobs. */
  readonly livingBytes: number;
  readonly keys: number;
  /** Deliveries that are not over. */
  readonly deliveries: number;
  readonly counters: EndpointCounters;
  /** Everything there or before it has been carried, or is dead; 0: nothing was carried yet. */
  readonly covers: number;
  /** About how much shorter the log could be by carrying; null: not known, since the replay did not get through. */
  readonly deadBytes: number | null;
}

interface Replayed extends Omit<LogSum, 'state'> {
  readonly isComplete: boolean;
  readonly state: EndpointState | null;
}

export function sumOf({ isComplete, state, ...size }: Replayed): LogSum {
  return { ...size, state: state === null ? null : sumState(state, { isComplete, bytes: size.bytes }) };
}

function sumState(
  state: EndpointState,
  { bytes, isComplete }: { readonly bytes: number; readonly isComplete: boolean },
): StateSum {
  const jobs = Object.fromEntries(JOB_STATES.map((each) => [each, 0])) as Record<JobState, number>;
  for (const { data } of state.jobs.values()) jobs[data.state] += 1;
  const { counters, covers, isDeleted, lastAtMs, livingBytes, term } = state;
  return {
    ...{ isComplete, lastAtMs, term, isDeleted, jobs, livingBytes, covers },
    keys: state.keys.size,
    deliveries: state.deliveries.size,
    counters: { ...counters },
    deadBytes: isComplete && state.isWhole ? Math.max(0, bytes - livingLogBytes(state)) : null,
  };
}
