import { sliceMembers, type RawJson } from '@berth/domain';

/** The part of a job that the worker reads. Times in ms. */
export interface JobFacts {
  readonly jobId: string;
  readonly input: RawJson;
  /** JSON object text of the request's other members. */
  readonly extras: RawJson;
  readonly delayTimeMs: number;
  readonly retries: number;
  /** For steps of the worker's own in the job's trace; null: nobody records it. */
  readonly traceparent: string | null;
}

/** Members that are ours to say, whatever the request held under these names. */
const OURS = new Set(['id', 'input', 'delayTime', 'retries']);

/** Ours to say only where the trace is recorded: a request may have a member of that name for its worker. */
const TRACEPARENT = 'traceparent';

/**
 * The job as the SDK takes it (wire contract 1.6): `input` is always there, and its text is the text that was sent.
 */
export function jobText({ jobId, input, extras, delayTimeMs, retries, traceparent }: JobFacts): string {
  const others = [...sliceMembers(extras)]
    .filter(([name]) => !OURS.has(name) && (traceparent === null || name !== TRACEPARENT))
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const members = [
    `"id":${JSON.stringify(jobId)}`,
    `"input":${input}`,
    ...others,
    `"delayTime":${Math.round(delayTimeMs)}`,
    `"retries":${retries}`,
    ...(traceparent === null ? [] : [`"${TRACEPARENT}":"${traceparent}"`]),
  ];
  return `{${members.join(',')}}`;
}
