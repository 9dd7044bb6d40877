export {
  CLUSTER_TYPES,
  summarizeCluster,
  type Cluster,
  type ClusterMember,
  type ClusterSummary,
  type ClusterType,
} from './cluster.js';
export {
  POD_ACTION_NAMES,
  POD_STATUSES,
  podActions,
  type PodAction,
  type PodCounts,
  type PodStatus,
} from './pod-status.js';
export {
  CLUSTER_ROLES,
  presentCostUsdPerHour,
  sshCommand,
  uptimeSeconds,
  type ClusterRole,
  type Pod,
  type PodCompute,
  type PodRuntime,
  type SshAddress,
} from './pod.js';
