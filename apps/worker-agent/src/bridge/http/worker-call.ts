import { TAKE_JOBS_MAX } from '@berth/contracts';
import { cleanText, type WorkerId } from '@berth/domain';

/** One request of a worker, as its method and address say it. */
export type WorkerCall =
  | { readonly kind: 'take'; readonly slots: number; readonly isBatch: boolean; readonly isIdle: boolean }
  | { readonly kind: 'stop' }
  | { readonly kind: 'ping'; readonly jobIds: readonly string[]; readonly sdkVersion: string | null }
  | { readonly kind: 'unhealthy'; readonly check: string; readonly reason: string }
  | { readonly kind: 'done'; readonly jobId: string }
  | { readonly kind: 'stream'; readonly jobId: string };

const ROUTE =
  /^(?:\/v2\/[^/]+)?\/(job-take|job-take-batch|job-stop|ping|job-done|job-stream)\/([^/]+)(?:\/([^/]+))?\/?$/;
const CHECK_CHARACTERS_MAX = 64;
const REASON_CHARACTERS_MAX = 256;
const VERSION_CHARACTERS_MAX = 64;

/** Null when this is none of the worker's calls (wire contract 1.4). The worker is known by its token, not by its path. */
export function parseCall(method: string, target: string): WorkerCall | null {
  const mark = target.indexOf('?');
  const route = ROUTE.exec(mark < 0 ? target : target.slice(0, mark));
  if (route === null) return null;
  const [, verb = '', , jobId] = route;
  if (method === 'POST') return jobId === undefined ? null : parsePost(verb, jobId);
  if (method !== 'GET' || jobId !== undefined) return null;
  return parseGet(verb, parseQuery(mark < 0 ? '' : target.slice(mark + 1)));
}

/** The worker that the path names; only for the log, as anybody may write it. */
export const workerOf = (target: string): WorkerId =>
  (ROUTE.exec(target.split('?', 1)[0] ?? '')?.[2] ?? '') as WorkerId;

function parsePost(verb: string, encodedJobId: string): WorkerCall | null {
  const jobId = decode(encodedJobId);
  if (verb === 'job-done') return { kind: 'done', jobId };
  return verb === 'job-stream' ? { kind: 'stream', jobId } : null;
}

function parseGet(verb: string, query: URLSearchParams): WorkerCall | null {
  switch (verb) {
    case 'job-take':
      return { kind: 'take', slots: 1, isBatch: false, isIdle: isIdle(query) };
    case 'job-take-batch':
      return { kind: 'take', slots: batchSize(query), isBatch: true, isIdle: isIdle(query) };
    case 'job-stop':
      return { kind: 'stop' };
    case 'ping':
      return parsePing(query);
    default:
      return null;
  }
}

function parsePing(query: URLSearchParams): WorkerCall {
  if (query.get('status') === 'unhealthy') {
    const check = cleanText(query.get('check') ?? 'unnamed', CHECK_CHARACTERS_MAX);
    return { kind: 'unhealthy', check, reason: cleanText(query.get('reason') ?? '', REASON_CHARACTERS_MAX) };
  }
  const jobIds = query.getAll('job_id').flatMap((list) => list.split(','));
  const version = query.get('runpod_version');
  const sdkVersion = version === null ? null : cleanText(version, VERSION_CHARACTERS_MAX);
  return { kind: 'ping', jobIds: jobIds.filter((id) => id !== ''), sdkVersion };
}

/** The SDKs append `&name=value` to whatever stands there, so `?a&b`, `?&a` and a second `?` all occur. */
const parseQuery = (text: string): URLSearchParams => new URLSearchParams(text.replaceAll('?', '&'));

/** Only an explicit 0 says that the worker runs nothing; SDK 0.10 does not say. */
const isIdle = (query: URLSearchParams): boolean => query.get('job_in_progress') === '0';

function batchSize(query: URLSearchParams): number {
  const size = Number(query.get('batch_size') ?? '1');
  return Number.isInteger(size) && size >= 1 ? Math.min(size, TAKE_JOBS_MAX) : 1;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign: no job has such an id, and the caller finds that out.
    return text;
  }
}
