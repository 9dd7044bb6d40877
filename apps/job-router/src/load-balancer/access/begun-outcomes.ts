/** What a request ends with that could not be brought to a worker, which is an error of ours. */
const UNSERVED = ['internal-error', 'no-worker-available', 'service-unavailable', 'too-many-held-requests'] as const;

/** Those that each endpoint begins with at zero, so that the first one is an increase. */
export const BEGUN_OUTCOMES: readonly string[] = ['2xx', ...UNSERVED];
