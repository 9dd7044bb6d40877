import type { PodRuntimeBody, PodBody, PodMountsBody, SshAddressBody } from '@berth/contracts/http';
import { podActions, presentCostUsdPerHour, sshCommand, uptimeSeconds, type Pod, type SshAddress } from '@berth/domain';

export function toPodBody(pod: Pod, nowMs: number): PodBody {
  const { container } = pod;
  return {
    id: pod.id,
    name: pod.name,
    status: pod.status,
    reason: pod.reason,
    actions: podActions(pod.status),
    image: container.image,
    args: container.args,
    disk: container.diskGb,
    mounts: toMounts(pod),
    env: container.env,
    ports: container.ports,
    registry: container.registryId,
    ...toCompute(pod),
    cloud: pod.cloud,
    dataCenterId: pod.dataCenterId,
    cudaVersion: pod.cudaVersion,
    ssh: { proxy: toSshAddress(pod.sshProxy), direct: toSshAddress(pod.sshDirect) },
    template: pod.templateId,
    cost: presentCostUsdPerHour(pod),
    locked: pod.isLocked,
    globalNetworking: pod.globalNetwork === null ? { enabled: false } : { enabled: true, ...pod.globalNetwork },
    runtime: toRuntime(pod, nowMs),
    createdAt: new Date(pod.createdAtMs).toISOString(),
    startedAt: pod.startedAtMs === null ? null : new Date(pod.startedAtMs).toISOString(),
    ...toMembership(pod),
  };
}

const toCompute = ({ compute }: Pod): Pick<PodBody, 'gpu' | 'cpu'> =>
  compute.kind === 'gpu'
    ? { gpu: { id: compute.typeId, count: compute.count } }
    : { cpu: { id: compute.flavorId, vcpuCount: compute.vcpuCount, memory: compute.memoryGb } };

const toMounts = ({ networkMounts, persistentMount }: Pod): PodMountsBody => ({
  ...(persistentMount === null ? {} : { persistent: { size: persistentMount.sizeGb, path: persistentMount.path } }),
  ...(networkMounts.length === 0 ? {} : { network: networkMounts }),
});

const toSshAddress = (address: SshAddress | null): SshAddressBody | null =>
  address === null ? null : { ...address, command: sshCommand(address) };

/** A measurement of a container that is gone says nothing. */
function toRuntime({ runtime, startedAtMs, status }: Pod, nowMs: number): PodRuntimeBody | null {
  if (status !== 'RUNNING' || runtime === null) return null;
  return {
    uptime: uptimeSeconds(startedAtMs, nowMs),
    gpus: runtime.gpus.map(({ memoryUtilPercent, utilPercent }) => ({
      util: utilPercent,
      memoryUtil: memoryUtilPercent,
    })),
    cpu: { util: runtime.cpuUtilPercent },
    memory: { util: runtime.memoryUtilPercent },
    ports: runtime.ports.map(({ ip, privatePort, publicPort, type }) => ({
      private: privatePort,
      public: publicPort,
      type,
      ip,
    })),
  };
}

function toMembership({ membership }: Pod): Pick<PodBody, 'cluster'> {
  if (membership === null) return {};
  const { clusterId, ip, rank, role } = membership;
  return { cluster: { id: clusterId, rank, ...(ip === null ? {} : { ip }), ...(role === null ? {} : { role }) } };
}
