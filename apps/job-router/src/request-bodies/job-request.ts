import {
  BATCH_REQUESTS_MAX,
  EXECUTION_TIMEOUT_MAX_MS,
  EXECUTION_TIMEOUT_MIN_MS,
  EXTRAS_MAX_BYTES,
  PlatformError,
  TTL_DEFAULT_MS,
  TTL_MAX_MS,
  TTL_MIN_MS,
  sliceItems,
  sliceMembers,
  type RawJson,
} from '@berth/domain';
import { jsonKindOf, objectText, WebhookAddresses } from '../platform/index.js';

/** The request of a caller, checked. Times in ms. */
export interface JobRequest {
  readonly input: RawJson;
  /** The members but `input` and what is secret, as the JSON text of an object: the worker gets them as they came. */
  readonly extras: RawJson;
  /** Members that must rest encrypted (`s3Config`), in the same form; null: there is none. */
  readonly secretExtras: RawJson | null;
  readonly webhook: string | null;
  /** Null: the endpoint decides. */
  readonly executionTimeoutMs: number | null;
  readonly ttlMs: number;
  readonly isLowPriority: boolean;
}

/** Failures that one answer names; a list that is wrong throughout would need as many as it has items. */
const FAILURES_MAX = 50;

/** Says where webhooks may go. */
export type WebhookRules = Pick<WebhookAddresses, 'refusalOfUrl'>;

/** The addresses that are open to everybody, and none that an operator opened. */
const PUBLIC_ONLY: WebhookRules = new WebhookAddresses();

const KNOWN_MEMBERS = ['webhook', 'policy', 's3Config'] as const;

/** One takes five bytes at least, as `"":0,`, so more are refused for their size: the others need not be found. */
const MEMBERS_MAX = EXTRAS_MAX_BYTES / 4;

const SECRET_MEMBERS: ReadonlySet<string> = new Set(['s3Config']);
const S3_MEMBERS = ['accessId', 'accessSecret', 'bucketName', 'endpointUrl', 'objectPath'] as const;

/**
 * Reads the body of `/run` and `/runsync` (API decisions 2.1). A member that is `null` counts as not
 * given, since several clients write absent values so; only `input` must be there.
 *
 * @throws PlatformError `body-not-json`; `invalid-job-request` with every failure in `errors`
 */
export function parseJobRequest(body: string, webhooks = PUBLIC_ONLY): JobRequest {
  const failures: string[] = [];
  requireObject(body);
  const request = readRequest(body, { path: '$', failures, webhooks });
  refuse(failures);
  return request;
}

/**
 * Reads the body of `/run-batch`: every request of the list, or none.
 *
 * @throws PlatformError as `parseJobRequest`, each failure under its request (`$.requests[3].input`)
 */
export function parseJobRequests(body: string, webhooks = PUBLIC_ONLY): readonly JobRequest[] {
  requireObject(body);
  const { requests, others } = splitBatch(body);
  const failures = others.map((name) => `$.${name}: is unknown here; give it with each request`);
  if (requests.length === 0 || requests.length > BATCH_REQUESTS_MAX)
    failures.push(`$.requests: must be a list of 1 to ${BATCH_REQUESTS_MAX} job requests`);
  refuse(failures);
  const read = requests.flatMap((request, at) => {
    const path = `$.requests[${at}]`;
    if (isObjectText(request)) return [readRequest(request, { path, failures, webhooks })];
    failures.push(`${path}: must be an object`);
    return [];
  });
  refuse(failures);
  return read;
}

/** The texts of a list's requests, none where it is no list, and what other members there are. */
function splitBatch(body: string): { readonly requests: readonly RawJson[]; readonly others: readonly string[] } {
  const members = sliceMembers(body, { max: MEMBERS_MAX });
  const list = members.get('requests');
  return {
    requests: list?.startsWith('[') === true ? sliceItems(list, BATCH_REQUESTS_MAX + 1) : [],
    others: [...members.keys()].filter((name) => name !== 'requests'),
  };
}

/** Where a request stands, and what is wrong so far. */
interface Findings {
  readonly path: string;
  readonly failures: string[];
  readonly webhooks: WebhookRules;
}

type Members = Readonly<Record<string, unknown>>;

/** Worth nothing once there are failures. @param text of a JSON object */
function readRequest(text: string, findings: Findings): JobRequest {
  const { path, failures } = findings;
  const all = sliceMembers(text, { max: MEMBERS_MAX });
  if (all.size < MEMBERS_MAX) checkInput(all.get('input'), findings);
  const parsed = parseKnown(all);
  const webhook = readWebhook(parsed['webhook'], findings);
  const policy = readPolicy(parsed['policy'], findings);
  checkS3Config(parsed['s3Config'], findings);
  const members = [...all].filter(([name]) => name !== 'input');
  const isSecret = ([name]: readonly [string, RawJson]): boolean => SECRET_MEMBERS.has(name) && isGiven(parsed[name]);
  const secrets = members.filter(isSecret);
  if (Buffer.byteLength(objectText(members)) > EXTRAS_MAX_BYTES) {
    failures.push(`${path}: the members beside "input" may take at most ${EXTRAS_MAX_BYTES} bytes`);
  }
  return {
    ...policy,
    input: all.get('input') as RawJson,
    extras: objectText(members.filter((member) => !isSecret(member))),
    secretExtras: secrets.length === 0 ? null : objectText(secrets),
    webhook,
  };
}

/** @throws PlatformError as `jsonKindOf` */
function requireObject(body: string): void {
  if (jsonKindOf(body) !== 'object') refuse(['$: must be an object']);
}

/** The members that mean something here. One that is too large to be accepted is not looked into. */
const parseKnown = (members: ReadonlyMap<string, RawJson>): Members =>
  Object.fromEntries(
    KNOWN_MEMBERS.flatMap((name) => {
      const text = members.get(name);
      return text === undefined || text.length > EXTRAS_MAX_BYTES ? [] : [[name, JSON.parse(text) as unknown]];
    }),
  );

function refuse(failures: readonly string[]): void {
  if (failures.length === 0) return;
  const told = failures.slice(0, FAILURES_MAX);
  const more = failures.length - told.length;
  if (more > 0) told.push(`and ${more} more`);
  throw new PlatformError('invalid-job-request', told.join('; '), { errors: told });
}

function checkInput(input: RawJson | undefined, { path, failures }: Findings): void {
  if (input === undefined) failures.push(`${path}.input: is required`);
  else if (!isObjectText(input)) failures.push(`${path}.input: must be an object`);
}

/** Members that are unknown here are the worker's. A wrong member is named, and its value never shown. */
function checkS3Config(value: unknown, { path, failures }: Findings): void {
  if (!isGiven(value)) return;
  if (!isObject(value)) {
    failures.push(`${path}.s3Config: must be an object`);
    return;
  }
  const isText = (name: string): boolean => !isGiven(value[name]) || typeof value[name] === 'string';
  failures.push(
    ...S3_MEMBERS.filter((name) => !isText(name)).map((name) => `${path}.s3Config.${name}: must be a string`),
  );
}

function readWebhook(value: unknown, { path, failures, webhooks }: Findings): string | null {
  if (!isGiven(value)) return null;
  const refusal = webhooks.refusalOfUrl(typeof value === 'string' ? value : '');
  if (refusal !== null) failures.push(`${path}.webhook: ${refusal}`);
  return value as string;
}

type Policy = Pick<JobRequest, 'executionTimeoutMs' | 'ttlMs' | 'isLowPriority'>;

const POLICY_DEFAULT: Policy = { executionTimeoutMs: null, ttlMs: TTL_DEFAULT_MS, isLowPriority: false };

function readPolicy(value: unknown, { path, failures }: Findings): Policy {
  if (!isGiven(value)) return POLICY_DEFAULT;
  if (!isObject(value)) {
    failures.push(`${path}.policy: must be an object`);
    return POLICY_DEFAULT;
  }
  const milliseconds = (name: string, min: number, max: number): number | null => {
    const given = value[name];
    if (!isGiven(given)) return null;
    if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return given;
    failures.push(`${path}.policy.${name}: must be an integer from ${min} to ${max} (milliseconds)`);
    return null;
  };
  const { lowPriority } = value;
  if (isGiven(lowPriority) && typeof lowPriority !== 'boolean')
    failures.push(`${path}.policy.lowPriority: must be a boolean`);
  return {
    executionTimeoutMs: milliseconds('executionTimeout', EXECUTION_TIMEOUT_MIN_MS, EXECUTION_TIMEOUT_MAX_MS),
    ttlMs: milliseconds('ttl', TTL_MIN_MS, TTL_MAX_MS) ?? TTL_DEFAULT_MS,
    isLowPriority: lowPriority === true,
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** @param text of one JSON value, without space around it */
const isObjectText = (text: string): boolean => text.startsWith('{');

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
