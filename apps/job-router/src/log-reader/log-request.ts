import { parseArgs } from 'node:util';
import type { EndpointId, JobId } from '@berth/domain';
import { isSubjectToken } from '@berth/messaging';

/** The request of somebody at a terminal about one endpoint's log. */
export type LogRequest =
  | { readonly kind: 'help' }
  | ShowRequest
  | { readonly kind: 'check'; readonly endpointId: EndpointId; readonly isJson: boolean }
  | SkipRequest;

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

export interface SkipRequest {
  readonly kind: 'skip';
  readonly endpointId: EndpointId;
  readonly sequence: number;
  /** False: it is told what would be lost, and nothing is changed. */
  readonly isSure: boolean;
}

/** The words of the command line make no sense. The message says which, and what would. */
export class LogUsageError extends Error {}

export const LOG_USAGE = `npm run log -- ENDPOINT [options]

Prints the log of an endpoint's jobs, batch by batch, and says at its end whether it is whole.

  --job ID      the facts of one job only
  --after SEQ   what lies behind that sequence only
  --follow      go on with what comes, until Ctrl-C
  --payloads    inputs, outputs, errors and log lines as text; else only their sizes
  --json        one JSON object a line
  --check       no facts: everything that is not as it must be, and what the log adds up to
  --skip SEQ    remove the last message of the log where it cannot be read: says what would be lost
  --yes         with --skip: do it
  --help        this text

Exit status: 0 the log is whole, 1 it is not, 2 that could not be found out, or --skip was refused.

The broker is the job router's: BERTH_NATS_URL, and BERTH_NATS_SEED or BERTH_NATS_USER and BERTH_NATS_PASSWORD. Where
BERTH_NATS_URL is not set, npm run log finds the broker of the stack that npm start runs (BERTH_HOME).
`;

const OPTIONS = {
  job: { type: 'string' },
  after: { type: 'string' },
  follow: { type: 'boolean', default: false },
  payloads: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  skip: { type: 'string' },
  yes: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws LogUsageError */
export function readLogRequest(args: readonly string[]): LogRequest {
  const { positionals, values } = parse(args);
  if (values.help) return { kind: 'help' };
  const [endpointId, ...more] = positionals;
  if (endpointId === undefined) throw new LogUsageError('Which endpoint? Name its id.');
  if (more.length > 0) throw new LogUsageError(`One endpoint at a time: ${endpointId}, or ${more.join(' ')}?`);
  if (!isSubjectToken(endpointId)) throw new LogUsageError('An endpoint’s id has letters, digits, "_" and "-" only.');
  const names = Object.entries(values).flatMap(([name, value]) => (value === false ? [] : [`--${name}`]));
  return requestOf(values, names, endpointId as EndpointId);
}

type Values = ReturnType<typeof parse>['values'];

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // The first sentence says what is wrong, the others how Node wants to be asked.
    throw new LogUsageError(`${(error as Error).message.split(/\.\s/)[0] ?? ''}.`);
  }
}

function requestOf(values: Values, names: readonly string[], endpointId: EndpointId): LogRequest {
  const { after, check, follow, job, json, payloads, skip, yes } = values;
  if (skip !== undefined) {
    only(names, '--skip', ['--yes']);
    return { kind: 'skip', endpointId, sequence: sequenceOf('--skip', skip, 1), isSure: yes };
  }
  if (yes) throw new LogUsageError('--yes goes with --skip only.');
  if (check) {
    only(names, '--check', ['--json']);
    return { kind: 'check', endpointId, isJson: json };
  }
  return {
    ...{ kind: 'show', endpointId, jobId: (job ?? null) as JobId | null },
    ...{ after: after === undefined ? 0 : sequenceOf('--after', after, 0) },
    ...{ isJson: json, isFollowing: follow, hasPayloads: payloads },
  };
}

function only(names: readonly string[], main: string, also: readonly string[]): void {
  const wrong = names.filter((name) => name !== main && !also.includes(name));
  if (wrong.length > 0) throw new LogUsageError(`${main} does not go with ${wrong.join(' ')}.`);
}

const SEQUENCE = /^\d{1,15}$/;

function sequenceOf(name: string, text: string, least: number): number {
  // As batches are printed.
  const digits = text.replace(/^#/, '');
  const sequence = SEQUENCE.test(digits) ? Number(digits) : -1;
  if (sequence >= least) return sequence;
  throw new LogUsageError(`${name} must be the sequence of a batch, not "${text}".`);
}
