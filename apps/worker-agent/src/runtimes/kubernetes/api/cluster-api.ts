export { ClusterApi } from '@berth/cluster-api';
