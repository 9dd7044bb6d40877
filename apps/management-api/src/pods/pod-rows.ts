import type { AccountId, ClusterId, Pod, PodCompute, PodId } from '@berth/domain';
import type { PodEntity, PodVolumeEntity } from '../persistence/index.js';

export function podRow(pod: Pod): PodEntity {
  const { container, createdAtMs, globalNetwork, membership, persistentMount, startedAtMs } = pod;
  return {
    id: pod.id,
    accountId: pod.accountId,
    name: pod.name,
    ...container,
    ports: [...container.ports],
    ...computeColumns(pod.compute),
    mountGb: persistentMount?.sizeGb ?? null,
    mountPath: persistentMount?.path ?? null,
    cloud: pod.cloud,
    dataCenterId: pod.dataCenterId,
    cudaVersion: pod.cudaVersion,
    status: pod.status,
    reason: pod.reason,
    sshProxy: pod.sshProxy,
    sshDirect: pod.sshDirect,
    templateId: pod.templateId,
    costUsdPerHour: pod.costUsdPerHour,
    isLocked: pod.isLocked,
    globalIp: globalNetwork?.ip ?? null,
    internalDns: globalNetwork?.internalDns ?? null,
    runtime: pod.runtime,
    createdAt: new Date(createdAtMs),
    startedAt: startedAtMs === null ? null : new Date(startedAtMs),
    ...membershipColumns(membership),
  };
}

const computeColumns = (
  compute: PodCompute,
): Pick<PodEntity, 'gpuTypeId' | 'gpuCount' | 'cpuFlavorId' | 'vcpuCount' | 'memoryGb'> =>
  compute.kind === 'gpu'
    ? { gpuTypeId: compute.typeId, gpuCount: compute.count, cpuFlavorId: null, vcpuCount: null, memoryGb: null }
    : {
        gpuTypeId: null,
        gpuCount: null,
        cpuFlavorId: compute.flavorId,
        vcpuCount: compute.vcpuCount,
        memoryGb: compute.memoryGb,
      };

const membershipColumns = (
  membership: Pod['membership'],
): Pick<PodEntity, 'clusterId' | 'clusterRank' | 'clusterIp' | 'clusterRole'> => ({
  clusterId: membership?.clusterId ?? null,
  clusterRank: membership?.rank ?? null,
  clusterIp: membership?.ip ?? null,
  clusterRole: membership?.role ?? null,
});

export const toPod = (row: PodEntity, volumes: readonly PodVolumeEntity[]): Pod => ({
  id: row.id as PodId,
  accountId: row.accountId as AccountId,
  name: row.name,
  container: {
    image: row.image,
    args: row.args,
    diskGb: row.diskGb,
    env: row.env,
    ports: row.ports,
    registryId: row.registryId,
  },
  compute: toCompute(row),
  persistentMount: row.mountGb === null || row.mountPath === null ? null : { sizeGb: row.mountGb, path: row.mountPath },
  networkMounts: volumes.map(({ path, volumeId }) => ({ volumeId, path })),
  cloud: row.cloud,
  dataCenterId: row.dataCenterId,
  cudaVersion: row.cudaVersion,
  status: row.status,
  reason: row.reason,
  sshProxy: row.sshProxy,
  sshDirect: row.sshDirect,
  templateId: row.templateId,
  costUsdPerHour: row.costUsdPerHour,
  isLocked: row.isLocked,
  globalNetwork:
    row.globalIp === null || row.internalDns === null ? null : { ip: row.globalIp, internalDns: row.internalDns },
  runtime: row.runtime,
  createdAtMs: row.createdAt.getTime(),
  startedAtMs: row.startedAt?.getTime() ?? null,
  membership: toMembership(row),
});

function toCompute({ cpuFlavorId, gpuCount, gpuTypeId, id, memoryGb, vcpuCount }: PodEntity): PodCompute {
  if (gpuTypeId !== null && gpuCount !== null) return { kind: 'gpu', typeId: gpuTypeId, count: gpuCount };
  if (cpuFlavorId !== null && vcpuCount !== null && memoryGb !== null) {
    return { kind: 'cpu', flavorId: cpuFlavorId, vcpuCount, memoryGb };
  }
  throw new Error(`pod ${id} has neither GPU nor CPU, which the checks of its table rule out`);
}

const toMembership = ({ clusterId, clusterIp, clusterRank, clusterRole }: PodEntity): Pod['membership'] =>
  clusterId === null
    ? null
    : { clusterId: clusterId as ClusterId, rank: clusterRank, ip: clusterIp, role: clusterRole };
