import {
  EXECUTION_TIMEOUT_MAX_MS,
  EXECUTION_TIMEOUT_MIN_MS,
  PlatformError,
  TTL_DEFAULT_MS,
  TTL_MAX_MS,
  TTL_MIN_MS,
  sliceMembers,
  type RawJson,
} from '@berth/domain';
import { objectText } from '../json-text.js';
import { EXTRAS_MAX_BYTES } from '../platform.port.js';

/** What a caller asked for, checked. Times in ms. */
export interface JobRequest {
  readonly input: RawJson;
  /** Every member but `input`, as the JSON text of an object: the worker gets them as they came. */
  readonly extras: RawJson;
  readonly webhook: string | null;
  /** Null: the endpoint decides. */
  readonly executionTimeoutMs: number | null;
  readonly ttlMs: number;
  readonly isLowPriority: boolean;
}

const WEBHOOK_PROTOCOLS: readonly string[] = ['http:', 'https:'];

/**
 * Reads the body of `/run` and `/runsync` (decisions, "Job request validation"). A member that is `null` counts as not
 * given, since several clients write absent values so; only `input` must be there.
 *
 * @throws PlatformError `body-not-json`; `invalid-job-request` with every failure in `errors`
 */
export function parseJobRequest(body: string): JobRequest {
  const parsed = parseObject(body);
  const failures: string[] = [];
  checkInput(parsed, failures);
  const webhook = readWebhook(parsed['webhook'], failures);
  const policy = readPolicy(parsed['policy'], failures);
  if (isGiven(parsed['s3Config']) && !isObject(parsed['s3Config'])) failures.push('$.s3Config: must be an object');
  const members = sliceMembers(body);
  const extras = objectText([...members].filter(([name]) => name !== 'input'));
  if (Buffer.byteLength(extras) > EXTRAS_MAX_BYTES) {
    failures.push(`$: the members beside "input" may take at most ${EXTRAS_MAX_BYTES} bytes`);
  }
  if (failures.length > 0) throw new PlatformError('invalid-job-request', failures.join('; '), { errors: failures });
  return { ...policy, input: members.get('input') as RawJson, extras, webhook };
}

type Members = Readonly<Record<string, unknown>>;

function parseObject(body: string): Members {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (cause) {
    throw new PlatformError('body-not-json', 'The body is not valid JSON.', { cause });
  }
  if (!isObject(parsed)) {
    throw new PlatformError('invalid-job-request', '$: must be an object', { errors: ['$: must be an object'] });
  }
  return parsed;
}

function checkInput(parsed: Members, failures: string[]): void {
  if (!Object.hasOwn(parsed, 'input')) failures.push('$.input: is required');
  else if (!isObject(parsed['input'])) failures.push('$.input: must be an object');
}

function readWebhook(value: unknown, failures: string[]): string | null {
  if (!isGiven(value)) return null;
  if (typeof value === 'string' && URL.canParse(value) && WEBHOOK_PROTOCOLS.includes(new URL(value).protocol)) {
    return value;
  }
  failures.push('$.webhook: must be an http or https URL');
  return null;
}

type Policy = Pick<JobRequest, 'executionTimeoutMs' | 'ttlMs' | 'isLowPriority'>;

const POLICY_DEFAULT: Policy = { executionTimeoutMs: null, ttlMs: TTL_DEFAULT_MS, isLowPriority: false };

function readPolicy(value: unknown, failures: string[]): Policy {
  if (!isGiven(value)) return POLICY_DEFAULT;
  if (!isObject(value)) {
    failures.push('$.policy: must be an object');
    return POLICY_DEFAULT;
  }
  const milliseconds = (name: string, min: number, max: number): number | null => {
    const given = value[name];
    if (!isGiven(given)) return null;
    if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return given;
    failures.push(`$.policy.${name}: must be an integer from ${min} to ${max} (milliseconds)`);
    return null;
  };
  const { lowPriority } = value;
  if (isGiven(lowPriority) && typeof lowPriority !== 'boolean')
    failures.push('$.policy.lowPriority: must be a boolean');
  return {
    executionTimeoutMs: milliseconds('executionTimeout', EXECUTION_TIMEOUT_MIN_MS, EXECUTION_TIMEOUT_MAX_MS),
    ttlMs: milliseconds('ttl', TTL_MIN_MS, TTL_MAX_MS) ?? TTL_DEFAULT_MS,
    isLowPriority: lowPriority === true,
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
