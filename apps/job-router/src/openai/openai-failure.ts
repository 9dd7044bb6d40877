import { PlatformError, encodeJson, sliceMembers, type JobState, type RawJson } from '@berth/domain';

/** How often a cut-off error text is tried as JSON. */
const ENDS_MAX = 64;

/** No server's error is longer, even with a long prompt in it. A longer text is an answer, and is not looked into. */
const FAILURE_MAX_CHARACTERS = 64 * 1024;
const FAILURE_MEMBERS: ReadonlySet<string> = new Set(['object', 'error']);

export interface FailureOptions {
  readonly type: string;
  readonly code: string | number | null;
  readonly param?: string | null;
  readonly retryAfterSeconds?: number;
  /** A worker is not to blame: there was none, or it was lost. */
  readonly isOurs?: boolean;
}

/** The outcome of a request that got no answer, in the words of OpenAI's interface. */
export class OpenAiFailure extends Error {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly isOurs: boolean;
  readonly #options: FailureOptions;

  constructor(status: number, message: string, options: FailureOptions) {
    super(message);
    this.name = 'OpenAiFailure';
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isOurs = options.isOurs === true;
    this.#options = options;
  }

  /** `{error: {message, type, code, param}}` */
  get body(): RawJson {
    const { type, code, param = null } = this.#options;
    return encodeJson({ error: { message: this.message, type, code, param } });
  }
}

const WORKER_ERROR = { type: 'worker_error', code: null } as const;
const NO_WORKER_RETRY_SECONDS = 10;

export const noWorker = (): OpenAiFailure =>
  new OpenAiFailure(503, 'No worker took the request in time; try again.', {
    type: 'server_error',
    code: 'no_worker_available',
    retryAfterSeconds: NO_WORKER_RETRY_SECONDS,
    isOurs: true,
  });

export const workerLost = (): OpenAiFailure =>
  new OpenAiFailure(502, 'The worker was lost in the middle of its answer; send the request again.', {
    type: 'server_error',
    code: 'worker_lost',
    isOurs: true,
  });

/** 410, since the clients repeat a 409 or a 5xx by themselves: somebody wanted this to end. */
const cancelled = (): OpenAiFailure =>
  new OpenAiFailure(410, 'The job of this request was cancelled or removed.', {
    type: 'invalid_request_error',
    code: 'job_cancelled',
  });

export const noOutput = (): OpenAiFailure => new OpenAiFailure(500, 'The worker gave no answer.', WORKER_ERROR);

/** Null for what is answered as on every path: refusals of our own, and faults. */
export function toFailure(error: unknown): OpenAiFailure | null {
  if (error instanceof OpenAiFailure) return error;
  return error instanceof PlatformError && error.code === 'job-not-found' ? cancelled() : null;
}

/** The failure of an ended job; null where it was done. */
export function failureOf(status: JobState, error: string | null): OpenAiFailure | null {
  switch (status) {
    case 'IN_QUEUE':
    case 'IN_PROGRESS':
    case 'COMPLETED':
      return null;
    case 'CANCELLED':
      return cancelled();
    case 'TIMED_OUT':
      return new OpenAiFailure(504, error ?? 'The request took too long.', {
        type: 'server_error',
        code: 'execution_timeout',
      });
    case 'FAILED':
      return failureOfText(error ?? 'The worker failed.');
  }
}

/** The text that the current vLLM worker writes around the answer of its server (wire contract 3). */
const UPSTREAM = /vLLM returned HTTP ([45]\d\d):/;

function failureOfText(text: string): OpenAiFailure {
  const [, upstream] = UPSTREAM.exec(text) ?? [];
  if (upstream !== undefined) {
    const status = Number(upstream);
    return (
      describedIn(text.slice(text.search(UPSTREAM)), status) ??
      new OpenAiFailure(status, text, { ...WORKER_ERROR, code: status })
    );
  }
  return new OpenAiFailure(500, exceptionMessage(text) ?? text, WORKER_ERROR);
}

/** The server's own error, where it can still be read in the text that the SDK made of it. */
function describedIn(text: string, status: number): OpenAiFailure | null {
  const start = text.indexOf('{');
  let end = start;
  for (let tries = 0; start !== -1 && tries < ENDS_MAX; tries += 1) {
    end = text.indexOf('}', end + 1);
    if (end === -1) return null;
    const value = parsed(text.slice(start, end + 1));
    if (isObject(value)) return failureOfObject(isObject(value['error']) ? value['error'] : value, status);
  }
  return null;
}

/** The SDK reports an exception with its traceback, as an object or after its text, which is no answer for a caller. */
function exceptionMessage(text: string): string | null {
  const value = parsed(text);
  if (isObject(value)) return typeof value['error_message'] === 'string' ? value['error_message'] : null;
  return GENERATOR_ERROR.exec(text)?.[1] ?? null;
}

const GENERATOR_ERROR = /^handler: (.*?)\s*\ntraceback: /s;

/**
 * The failure that a worker has written as its output: `{object: "error", message, type, code}` of older vLLM workers,
 * or an object with an `error` of that form. Null for any other output, and for one that is too long to be a failure:
 * outputs may have tens of megabytes, and this is the thread that serves everybody.
 */
export function failureInOutput(output: RawJson): OpenAiFailure | null {
  if (output.length > FAILURE_MAX_CHARACTERS || !output.trimStart().startsWith('{')) return null;
  const members = sliceMembers(output, { wanted: FAILURE_MEMBERS });
  if (members.get('object') === '"error"') return failureOfObject(JSON.parse(output) as Fields, null);
  const error = members.get('error');
  const fields = error === undefined ? undefined : parsed(error);
  return isObject(fields) && typeof fields['message'] === 'string' ? failureOfObject(fields, null) : null;
}

type Fields = Readonly<Record<string, unknown>>;

/** @param status what is known of it besides `code`, which is one where it looks like one */
function failureOfObject({ code, message, param, type }: Fields, status: number | null): OpenAiFailure {
  const named = Number(code);
  const isStatus = Number.isInteger(named) && named >= 400 && named <= 599;
  return new OpenAiFailure(
    status ?? (isStatus ? named : 500),
    typeof message === 'string' ? message : 'The worker failed.',
    {
      type: typeof type === 'string' ? type : WORKER_ERROR.type,
      code: typeof code === 'string' || typeof code === 'number' ? code : null,
      param: typeof param === 'string' ? param : null,
    },
  );
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Text that is no JSON is shown as the text that it is.
    return undefined;
  }
}
