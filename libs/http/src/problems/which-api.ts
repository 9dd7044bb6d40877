/** The two interfaces, each at an address of its own. */
export type ApiName = 'management' | 'jobs';

/** The words behind `/v2/` in the management API. No endpoint has such an id. */
const RESOURCES: ReadonlySet<string> = new Set([
  'accounts',
  'api-keys',
  'audit',
  'catalog',
  'clusters',
  'hosts',
  'network-volumes',
  'pods',
  'registries',
  'serverless',
  'templates',
  'usage',
]);

/** The words behind `/v2/ENDPOINT/` in the job API. */
const JOB_PATH_WORDS: ReadonlySet<string> = new Set([
  'cancel',
  'health',
  'openai',
  'purge-queue',
  'requests',
  'retry',
  'run',
  'run-batch',
  'runsync',
  'status',
  'status-sync',
  'stream',
  'webhooks',
]);

const ofManagement = (): ApiName => 'management';

/** By the first part of a path, what the next two say. */
const OWNERS: Readonly<Record<string, (first: string, second: string) => ApiName | null>> = {
  docs: ofManagement,
  'job-openapi.json': ofManagement,
  'openapi.json': ofManagement,
  v1: (first) => (first === 'endpoints' ? 'management' : null),
  v2: (first, second) => {
    if (RESOURCES.has(first)) return 'management';
    return JOB_PATH_WORDS.has(second) ? 'jobs' : null;
  },
};

/** Which of the two has paths like this one, whether or not it has this very path; null: neither. */
export function whichApi(url: string): ApiName | null {
  const [, root = '', first = '', second = ''] = (url.split('?', 1)[0] ?? '').split('/');
  return Object.hasOwn(OWNERS, root) ? (OWNERS[root]?.(first, second) ?? null) : null;
}

const CALLED: Readonly<Record<ApiName, string>> = { management: 'management API', jobs: 'job API' };

/**
 * Tells who asks one API for a path of the other where to go.
 *
 * @param here the API that was asked
 * @param address base URL of the other one; null where this process was not told
 */
export const pointElsewhere =
  (here: ApiName, address: string | null) =>
  (url: string): string | null => {
    const owner = whichApi(url);
    if (owner === null || owner === here) return null;
    const place = address === null ? 'has another address' : `is at ${address}`;
    return `This is the ${CALLED[here]}. The ${CALLED[owner]}, which has such paths, ${place}.`;
  };
