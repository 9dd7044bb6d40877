import type { ReleaseBody, ReleaseListBody } from '@berth/contracts/http';
import { rolloutOf, type Endpoint, type ReleaseStarts, type Worker } from '@berth/domain';
import type { ReleaseRecord } from './releases.store.js';

interface ReleaseFacts {
  readonly releases: readonly ReleaseRecord[];
  readonly workers: readonly Worker[];
  /** How the workers of the latest release start; null: nothing is known. */
  readonly starts: ReleaseStarts | null;
}

/** @param releases newest first: the latest of them tells the endpoint's, which may have changed since it was read */
export function toReleaseList({ id, release }: Endpoint, { releases, starts, workers }: ReleaseFacts): ReleaseListBody {
  const latest = releases[0]?.release ?? release;
  return {
    endpointVersion: latest,
    rollout: rolloutOf(workers, latest, starts),
    releases: releases.map((record) => toReleaseBody(id, record, workers)),
  };
}

const toReleaseBody = (
  endpointId: string,
  { createdAtMs, createdBy, diff, imageDigest, release }: ReleaseRecord,
  workers: readonly Worker[],
): ReleaseBody => ({
  id: `${endpointId}.${release}`,
  version: release,
  source: 'MANUAL',
  ...(createdBy === null ? {} : { createdByUserId: createdBy }),
  ...(imageDigest === null ? {} : { imageDigest }),
  workerCount: workers.filter((worker) => worker.release === release).length,
  createdAt: new Date(createdAtMs).toISOString(),
  diff,
});
