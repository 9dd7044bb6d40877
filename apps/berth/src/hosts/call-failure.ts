import { cleanText } from '@berth/domain';
import { listOf, objectOf, optional, readShape, text } from '@berth/domain/shape';
import { CommandError, EXIT_STATUS, type CommandStatus } from '../program/index.js';

interface CallFailureOptions {
  readonly mend: string;
  readonly status?: CommandStatus;
  readonly isRetriable: boolean;
  readonly cause?: unknown;
}

/** Why a call of the management API was not answered as it should be. */
export class CallFailure extends CommandError {
  readonly isRetriable: boolean;

  constructor(message: string, { isRetriable, ...options }: CallFailureOptions) {
    super(message, options);
    this.name = 'CallFailure';
    this.isRetriable = isRetriable;
  }
}

/** The members of `problem+json` that say something to people (API decisions 1.1). */
interface Problem {
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly string[];
}

const TEXT_MAX = 4_096;
const ERRORS_MAX = 1_000;
const SHOWN_MAX = 500;

const PROBLEM = objectOf<Problem>({
  type: text(TEXT_MAX),
  title: text(TEXT_MAX),
  detail: text(TEXT_MAX),
  errors: optional(listOf(text(TEXT_MAX), ERRORS_MAX)),
});

const RETRIABLE: readonly number[] = [408, 429, 500, 502, 503, 504];
/** The first try is still at work: another one gets its answer. */
const IN_PROGRESS = /\/idempotency-in-progress$/;
const SERVER_FAULT = 500;
const TOO_MANY = 429;

/** @param body of an answer that is no success, as JSON has it; undefined where it is none */
export function refusalOf(url: string, httpStatus: number, body: unknown): CallFailure {
  const reading = readShape<Problem>(PROBLEM, body);
  if (reading.kind === 'unreadable') {
    return new CallFailure(`${url} answered ${httpStatus}, and not as Berth does.`, {
      mend: 'Does BERTH_BASE_URL name the management API, and is what stands before it (proxy, ingress) well?',
      isRetriable: RETRIABLE.includes(httpStatus),
    });
  }
  const { errors = [], type } = reading.value;
  const isRetriable = RETRIABLE.includes(httpStatus) || IN_PROGRESS.test(type);
  const isMisuse = httpStatus < SERVER_FAULT && httpStatus !== TOO_MANY;
  return new CallFailure([sentenceOf(reading.value), ...errors.map(shown)].join('\n  '), {
    mend: `${MENDS[httpStatus] ?? 'What to do:'} ${shown(type)}`,
    status: isMisuse ? EXIT_STATUS.misused : EXIT_STATUS.failed,
    isRetriable,
  });
}

/** @param error of a connection that was not made, broke, or took too long */
export const noAnswer = (url: string, error: unknown): CallFailure =>
  new CallFailure(`${url} does not answer: ${reasonOf(error)}.`, {
    mend: 'Is the management API up, and BERTH_BASE_URL where it is? NODE_EXTRA_CA_CERTS names an authority of your own.',
    isRetriable: true,
    cause: error,
  });

/** @param reason why the answer cannot be read, beginning in lower case */
export const unreadableAnswer = (url: string, reason: string): CallFailure =>
  new CallFailure(`The answer of ${url} cannot be read: ${reason}.`, {
    mend: 'Does BERTH_BASE_URL name a management API of this version?',
    isRetriable: false,
  });

const MENDS: Readonly<Record<number, string>> = {
  401: 'Set BERTH_API_KEY to a key that is in use.',
  403: 'Set BERTH_API_KEY to a key with the scope admin.',
  404: '`berth host list` names the hosts that there are.',
  429: 'Wait a minute, and try again.',
};

const sentenceOf = ({ detail, title }: Problem): string =>
  detail === title ? shown(title) : `${shown(title)}: ${shown(detail)}`;

const shown = (words: string): string => cleanText(words, SHOWN_MAX);

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return shown(String(error));
  if (error.name === 'TimeoutError') return 'it took too long';
  // `fetch` says "fetch failed", and why in its cause, whose message is empty where each of several addresses failed.
  const { cause } = error;
  if (!(cause instanceof Error)) return shown(error.message);
  return shown(cause.message === '' && 'code' in cause ? String(cause.code) : cause.message);
}
