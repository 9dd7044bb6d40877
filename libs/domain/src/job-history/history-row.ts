import type { EndpointId, JobKey } from '../ids.js';
import type { JobDetail } from '../job-summary/index.js';

/** One job of the history. Whose it is, the log of its endpoint does not say: the control plane knows. */
export interface HistoryRow {
  readonly endpointId: EndpointId;
  readonly job: JobDetail;
  readonly attempt: number;
}

/** Where a row lies: a job never changes its submission. */
export interface RowPlace extends JobKey {
  readonly createdAtMs: number;
}
