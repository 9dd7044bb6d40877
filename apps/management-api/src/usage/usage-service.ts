import { USAGE_LIMIT_DEFAULT, type UsageListBody, type UsageQueryDto } from '@berth/contracts/http';
import {
  PlatformError,
  USAGE_SPANS,
  canSee,
  readSince,
  usageRange,
  type AskedRange,
  type EndpointId,
  type UsageRange,
} from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import { parseUsageCursor } from './usage-cursor.js';
import type { UsagePlace, UsageReport, UsageReportStore } from './usage-report.store.js';
import { toUsageListBody } from './usage.mapper.js';

export interface UsageServiceOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly records: Pick<UsageReportStore, 'countedUntilMs' | 'list'>;
}

/** What the workers of the caller's account have used. Read only: the loop counts it. */
export class UsageService {
  readonly #options: UsageServiceOptions;

  constructor(options: UsageServiceOptions) {
    this.#options = options;
  }

  /**
   * How complete it is, is read first: what is counted meanwhile does no harm.
   *
   * @throws PlatformError `invalid-query` when the range is none, or too long, or the cursor is of another query
   */
  async list(caller: Caller, query: UsageQueryDto): Promise<UsageListBody> {
    const { clock, records } = this.#options;
    const { bucket = 'hour', groupBy = ['endpoint'], limit = USAGE_LIMIT_DEFAULT } = query;
    const nowMs = clock.nowMs();
    const range = rangeOf({ ...query, bucket }, nowMs);
    const groups = { isByEndpoint: groupBy.includes('endpoint'), isByGpuType: groupBy.includes('gpuType') };
    const after = placeOf(query.cursor, groups);
    const owner = { accountId: caller.accountId, endpointIds: endpointsOf(caller, query.endpointId as EndpointId) };
    const countedUntilMs = await records.countedUntilMs(owner, nowMs);
    const { bucketMs } = USAGE_SPANS[bucket];
    const startMs =
      after === null ? range.startMs : Math.max(range.startMs, Math.floor(after.atMs / bucketMs) * bucketMs);
    // One more than is told says whether there is more.
    const sums = await records.list({
      ...{ ...owner, ...groups, bucketMs, after },
      ...{ startMs, endMs: range.endMs, limit: limit + 1 },
    });
    return toUsageListBody(sums, { ...range, bucket, countedUntilMs, limit });
  }
}

function rangeOf({ bucket, end, start }: UsageQueryDto & Pick<AskedRange, 'bucket'>, nowMs: number): UsageRange {
  const [startMs, endMs] = [start, end].map((text) =>
    text === undefined ? undefined : (readSince(text) ?? undefined),
  );
  const asked = { bucket, ...(startMs === undefined ? {} : { startMs }), ...(endMs === undefined ? {} : { endMs }) };
  const range = usageRange(asked, nowMs);
  if (range.kind === 'refused') throw refusal(range.errors);
  return { startMs: range.startMs, endMs: range.endMs };
}

/** A place of a query with other groups is none in this one. */
function placeOf(
  cursor: string | undefined,
  { isByEndpoint, isByGpuType }: Pick<UsageReport, 'isByEndpoint' | 'isByGpuType'>,
): UsagePlace | null {
  if (cursor === undefined) return null;
  const place = parseUsageCursor(cursor);
  if (place !== null && (place.endpointId !== null) === isByEndpoint && (place.gpuTypeId !== null) === isByGpuType) {
    return place;
  }
  throw refusal(['$.cursor: must be the cursor of an earlier answer to the same query']);
}

/** Null: all of the account. An endpoint that the key does not see has used nothing, as one that nobody has. */
function endpointsOf(caller: Caller, asked: EndpointId | undefined): readonly EndpointId[] | null {
  if (asked === undefined) return caller.endpointIds;
  return canSee(caller, asked) ? [asked] : [];
}

const refusal = (errors: readonly string[]): PlatformError =>
  new PlatformError('invalid-query', `The query parameters cannot be answered: ${errors.join('; ')}.`, { errors });
