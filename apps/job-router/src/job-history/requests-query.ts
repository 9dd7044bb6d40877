import { REQUESTS_LIMIT_DEFAULT, RequestsQueryDto } from '@berth/contracts/http';
import { JOB_STATES, parsePageCursor, type JobState, type PageKey } from '@berth/domain';
import { readQuery, withoutEmpty } from '@berth/http';

/** The jobs that a page shall hold. */
export interface RequestsQuery {
  readonly statuses: ReadonlySet<JobState>;
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  readonly limit: number;
}

/**
 * The query of a list. A parameter that is absent or empty means the default.
 *
 * @throws PlatformError `invalid-query` with a line for each parameter that cannot be used
 */
export function parseRequestsQuery(given: Readonly<Record<string, unknown>>): RequestsQuery {
  const { cursor, limit, status } = readQuery(RequestsQueryDto, withoutEmpty(given));
  return {
    statuses: new Set(JOB_STATES.filter((state) => status?.includes(state) ?? true)),
    limit: limit ?? REQUESTS_LIMIT_DEFAULT,
    before: cursor === undefined ? null : parsePageCursor(cursor),
  };
}
