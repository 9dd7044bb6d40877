import { JOB_STATES, PlatformError, parsePageCursor, type JobState, type PageKey } from '@berth/domain';

/** What a page of jobs shall hold. */
export interface RequestsQuery {
  readonly statuses: ReadonlySet<JobState>;
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  readonly limit: number;
}

export const LIMIT_DEFAULT = 20;
export const LIMIT_MAX = 100;

/**
 * The query of a list. A parameter that is absent or empty means the default.
 *
 * @throws PlatformError `invalid-query` with a line for each parameter that cannot be used
 */
export function parseRequestsQuery(given: Readonly<Record<string, unknown>>): RequestsQuery {
  const failures: string[] = [];
  const read = <T>(name: string, rule: string, parse: (text: string) => T | null): T | null => {
    const text = textOf(given[name]);
    const value = text === '' ? null : parse(text);
    if (text !== '' && value === null) failures.push(`${name}: ${rule}`);
    return value;
  };
  const query = {
    statuses: read('status', STATUS_RULE, parseStatuses) ?? new Set(JOB_STATES),
    limit: read('limit', `must be an integer from 1 to ${LIMIT_MAX}`, parseLimit) ?? LIMIT_DEFAULT,
    before: read('cursor', 'must be one that an answer of this path has named', parsePageCursor),
  };
  if (failures.length === 0) return query;
  throw new PlatformError('invalid-query', failures.join('; '), { errors: failures });
}

const STATUS_RULE = `must be one or several, comma separated, of ${JOB_STATES.join(', ')}`;

/** A parameter that is repeated is a list too. */
const textOf = (value: unknown): string =>
  [value]
    .flat()
    .filter((each) => typeof each === 'string')
    .join(',');

function parseStatuses(text: string): Set<JobState> | null {
  const words = text.split(',').map((word) => word.trim());
  const known = JOB_STATES.filter((state) => words.includes(state));
  return words.every((word) => known.some((state) => state === word)) ? new Set(known) : null;
}

function parseLimit(text: string): number | null {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  return value >= 1 && value <= LIMIT_MAX ? value : null;
}
