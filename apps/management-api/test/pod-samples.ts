import type { AccountId, Cluster, ClusterId, Pod, PodId } from '@berth/domain';

export const CREATED_AT_MS = Date.parse('2026-01-01T12:00:00.000Z');

/** A GPU pod on its own that nothing optional is known of. */
export const samplePod = (id: string, fields: Partial<Pod> = {}): Pod => ({
  id: id as PodId,
  accountId: 'default' as AccountId,
  name: id,
  container: { image: 'local/echo', args: '', diskGb: 20, env: {}, ports: [], registryId: null },
  compute: { kind: 'gpu', typeId: 'NVIDIA L4', count: 1 },
  persistentMount: null,
  networkMounts: [],
  cloud: 'SECURE',
  dataCenterId: null,
  cudaVersion: null,
  status: 'PROVISIONING',
  reason: '',
  sshProxy: null,
  sshDirect: null,
  templateId: null,
  costUsdPerHour: 0,
  isLocked: false,
  globalNetwork: null,
  runtime: null,
  createdAtMs: CREATED_AT_MS,
  startedAtMs: null,
  membership: null,
  ...fields,
});

export const sampleCluster = (id: string, fields: Partial<Cluster> = {}): Cluster => ({
  id: id as ClusterId,
  accountId: 'default' as AccountId,
  name: id,
  type: 'TRAINING',
  compute: { gpuTypeId: 'NVIDIA L4', gpuCountPerPod: 1, podCount: 2 },
  templateId: null,
  network: null,
  createdAtMs: CREATED_AT_MS,
  ...fields,
});

/** A member of a cluster. */
export const member = (clusterId: string, rank: number | null, fields: Partial<Pod> = {}): Pod =>
  samplePod(`${clusterId}-${rank}`, {
    membership: { clusterId: clusterId as ClusterId, rank, ip: null, role: null },
    ...fields,
  });
