import type { TenantClient } from '../../src/tenant-client.js';

/** Of attempts that no worker ever had: whoever was to bring the job there left. */
const NEVER_BEGUN = [
  'it reached its host when nobody waited for it any more',
  'given back: the answer could not be delivered to its host',
  'its worker no longer waited for it',
];

interface JobDetail {
  readonly history: readonly { readonly outcome: string; readonly reason: string | null }[];
}

/** How each attempt of a job ended that a worker has had, and why it was lost. */
export async function attemptsOf(tenant: TenantClient, endpointId: string, jobId: string): Promise<readonly string[]> {
  const { body } = await tenant.job<JobDetail>('GET', `/${endpointId}/requests/${jobId}`);
  const begun = body.history.filter(({ reason }) => !NEVER_BEGUN.includes(reason ?? ''));
  return begun.map(({ outcome, reason }) => (outcome === 'lost' ? `lost: ${reason ?? ''}` : outcome));
}
