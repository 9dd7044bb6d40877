import type { EndpointId, JobId } from '@berth/domain';
import { isSubjectToken } from '@berth/messaging';
import { misuse, type CommandError } from '../program/index.js';

/** The request of somebody at a terminal about one endpoint's log. */
export type LogRequest = ShowRequest | CheckRequest | SkipRequest;

interface ShowRequest {
  readonly kind: 'show';
  readonly endpointId: EndpointId;
  /** Null: all jobs. */
  readonly jobId: JobId | null;
  /** The entries behind this sequence are shown. */
  readonly after: number;
  readonly isJson: boolean;
  readonly isFollowing: boolean;
  readonly hasPayloads: boolean;
}

interface CheckRequest {
  readonly kind: 'check';
  readonly endpointId: EndpointId;
  readonly isJson: boolean;
}

export interface SkipRequest {
  readonly kind: 'skip';
  readonly endpointId: EndpointId;
  readonly sequence: number;
  /** False: it is told what would be lost, and nothing is changed. */
  readonly isConfirmed: boolean;
  readonly isJson: boolean;
}

/** The words of the command line, as the parser has them: an option that was given twice is a list. */
export type GivenWords = Readonly<Record<string, unknown>>;

/** @throws CommandError that says which words make no sense, and what would */
export function readLogRequest(given: GivenWords): LogRequest {
  const twice = OPTIONS.find((name) => Array.isArray(given[name]));
  if (twice !== undefined) throw misuse(`--${twice} is there twice.`, HELP);
  const names = OPTIONS.filter((name) => given[name] !== undefined && given[name] !== false);
  const endpointId = tokenOf('The id of an endpoint', given.endpoint) as EndpointId;
  const isJson = given.json === true;
  if (names.includes('skip')) return skipRequest(given, names, { endpointId, isJson });
  if (names.includes('confirm')) throw misuse('--confirm goes with --skip only.', HELP);
  if (names.includes('check')) {
    only(names, 'check', ['json']);
    return { kind: 'check', endpointId, isJson };
  }
  return {
    ...{ kind: 'show', endpointId, isJson },
    jobId: names.includes('job') ? (tokenOf('The id of a job', given.job) as JobId) : null,
    after: names.includes('after') ? sequenceOf('after', given, 0) : 0,
    isFollowing: names.includes('follow'),
    hasPayloads: names.includes('payloads'),
  };
}

const OPTIONS = ['job', 'after', 'follow', 'payloads', 'json', 'check', 'skip', 'confirm'] as const;
type OptionName = (typeof OPTIONS)[number];

const HELP = '`berth log --help` says what goes together.';

function skipRequest(
  given: GivenWords,
  names: readonly OptionName[],
  base: Pick<SkipRequest, 'endpointId' | 'isJson'>,
): SkipRequest {
  only(names, 'skip', ['confirm', 'json']);
  const sequence = sequenceOf('skip', given, 1);
  const isConfirmed = names.includes('confirm');
  if (isConfirmed && sequenceOf('confirm', given, 1) !== sequence) {
    throw misuse('--confirm names another sequence than --skip.', 'Name the one that shall be removed in both.');
  }
  return { kind: 'skip', ...base, sequence, isConfirmed };
}

function only(names: readonly OptionName[], main: OptionName, also: readonly OptionName[]): void {
  const wrong = names.filter((name) => name !== main && !also.includes(name));
  if (wrong.length > 0) throw misuse(`--${main} does not go with ${wrong.map((name) => `--${name}`).join(' ')}.`, HELP);
}

/** Anything else would be the subject of other messages, or none. What was given is not repeated: it may be anything. */
function tokenOf(what: string, given: unknown): string {
  if (typeof given === 'string' && isSubjectToken(given)) return given;
  throw misuse(`${what} has letters, digits, "_" and "-" only, 128 at most.`, 'Copy it as the API has it.');
}

const SEQUENCE = /^#?(\d{1,15})$/;

function sequenceOf(name: OptionName, given: GivenWords, least: number): number {
  // With or without the mark with which batches are printed.
  const [, digits] = SEQUENCE.exec(String(given[name])) ?? [];
  const sequence = Number(digits ?? -1);
  if (sequence >= least) return sequence;
  throw notASequence(name);
}

const notASequence = (name: OptionName): CommandError =>
  misuse(`--${name} must be the sequence of a batch.`, 'It is what stands in front of each batch, as in #214.');
