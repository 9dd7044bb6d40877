/** What a client that keeps a diary knows of one job. Instants are Unix ms of the test's own clock. */
export interface ClientEntry {
  readonly jobId: string;
  /** The value that the worker was asked to give back. */
  readonly input: string;
  /** Status reads in the order of their answers; the last one was made when everything had come to rest. */
  readonly reads: readonly StatusRead[];
}

export interface StatusRead {
  readonly atMs: number;
  /** Null: 404. */
  readonly status: string | null;
  readonly output: WorkerOutput | null;
  /** Attempts beyond the first, as the API tells it. */
  readonly retries: number;
}

/** What the test's worker gives back: the input and the execution that made it. */
export interface WorkerOutput {
  readonly echo: string;
  readonly execution: string;
}

/** What a worker wrote down about one run of one job. */
export interface Execution {
  readonly jobId: string;
  readonly execution: string;
  readonly startedAtMs: number;
  /** When the worker heard 200 for its result; null when it never did. */
  readonly givenAtMs: number | null;
}

export interface History {
  readonly accepted: readonly ClientEntry[];
  readonly executions: readonly Execution[];
}

export interface BrokenPromise {
  readonly promise:
    | 'lost'
    | 'not-ended'
    | 'double-end'
    | 'wrong-output'
    | 'foreign-output'
    | 'changed-output'
    | 'too-many-attempts'
    | 'charged-for-a-fault-of-ours'
    | 'ran-again-after-its-result';
  readonly jobId: string;
  readonly detail: string;
}

const ENDS = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);
const RETRIES_MAX = 2;

/** Holds a run's diaries against what was promised. Pure; an empty answer means that every promise was kept. */
export function checkHistory(history: History): readonly BrokenPromise[] {
  const executions = Map.groupBy(history.executions, ({ jobId }) => jobId);
  return history.accepted.flatMap((entry) => {
    const ofJob = executions.get(entry.jobId) ?? [];
    return [...checkEnd(entry), ...checkOutput(entry, ofJob), ...checkAttempts(entry), ...checkRerun(entry, ofJob)];
  });
}

function checkEnd({ jobId, reads }: ClientEntry): BrokenPromise[] {
  const last = reads.at(-1);
  if (last?.status === undefined || last.status === null) {
    return [{ promise: 'lost', jobId, detail: 'accepted, but not found at the end' }];
  }
  const ends = new Set(reads.map(({ status }) => status).filter((status) => status !== null && ENDS.has(status)));
  if (ends.size > 1) return [{ promise: 'double-end', jobId, detail: [...ends].join(' and ') }];
  if (!ENDS.has(last.status)) return [{ promise: 'not-ended', jobId, detail: `still ${last.status}` }];
  const firstEnd = reads.findIndex(({ status }) => status !== null && ENDS.has(status));
  const reopened = reads.slice(firstEnd).find(({ status }) => status === null || !ENDS.has(status));
  return reopened === undefined
    ? []
    : [{ promise: 'double-end', jobId, detail: `${last.status} was followed by ${reopened.status ?? '404'}` }];
}

function checkOutput({ jobId, input, reads }: ClientEntry, executions: readonly Execution[]): BrokenPromise[] {
  const outputs = reads.filter(({ status }) => status === 'COMPLETED').map(({ output }) => output);
  const first = outputs[0];
  if (outputs.length === 0) return [];
  if (first === null || first === undefined)
    return [{ promise: 'wrong-output', jobId, detail: 'completed without output' }];
  if (first.echo !== input) return [{ promise: 'wrong-output', jobId, detail: `${first.echo} instead of ${input}` }];
  if (outputs.some((output) => output?.execution !== first.execution)) {
    return [{ promise: 'changed-output', jobId, detail: 'two reads showed outputs of two executions' }];
  }
  const isOwn = executions.some(({ execution }) => execution === first.execution);
  return isOwn ? [] : [{ promise: 'foreign-output', jobId, detail: `no execution ${first.execution} of this job` }];
}

function checkAttempts({ jobId, reads }: ClientEntry): BrokenPromise[] {
  const retries = Math.max(0, ...reads.map((read) => read.retries));
  return retries > RETRIES_MAX ? [{ promise: 'too-many-attempts', jobId, detail: `${retries + 1} attempts` }] : [];
}

/**
 * Once a worker has heard that its result is safe, nobody may start the job again, unless its host stood still while
 * the attempt's lease ran out: that is for the caller to know.
 */
function checkRerun({ jobId }: ClientEntry, executions: readonly Execution[]): BrokenPromise[] {
  const given = executions.filter(({ givenAtMs }) => givenAtMs !== null);
  const again = executions.find((late) =>
    given.some(({ execution, givenAtMs }) => execution !== late.execution && late.startedAtMs > (givenAtMs ?? 0)),
  );
  return again === undefined
    ? []
    : [{ promise: 'ran-again-after-its-result', jobId, detail: `execution ${again.execution} came after a result` }];
}
