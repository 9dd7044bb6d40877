import type { ClusterBody, ClusterNetworkBody, ClusterPrimaryBody } from '@berth/contracts/http';
import type { Cluster, ClusterSummary } from '@berth/domain';
import type { SummarizedCluster } from './clusters-service.js';

export const toClusterBody = ({ cluster, summary }: SummarizedCluster): ClusterBody => ({
  id: cluster.id,
  name: cluster.name,
  type: cluster.type,
  compute: cluster.compute,
  ...(cluster.templateId === null ? {} : { template: cluster.templateId }),
  ...(summary.dataCenterId === null ? {} : { dataCenterId: summary.dataCenterId }),
  pods: summary.pods,
  ...(cluster.network === null ? {} : { network: toNetwork(cluster.network) }),
  ...(summary.primary === null ? {} : { primary: toPrimary(summary.primary) }),
  createdAt: new Date(cluster.createdAtMs).toISOString(),
});

const toNetwork = ({ cidr, vxlanId, vxlanPort }: NonNullable<Cluster['network']>): ClusterNetworkBody => ({
  cidr,
  ...(vxlanId === null ? {} : { vxlanId }),
  ...(vxlanPort === null ? {} : { vxlanPort }),
});

const toPrimary = ({ podId, sshEndpoint, status }: NonNullable<ClusterSummary['primary']>): ClusterPrimaryBody => ({
  podId,
  status,
  ...(sshEndpoint === null ? {} : { sshEndpoint }),
});
