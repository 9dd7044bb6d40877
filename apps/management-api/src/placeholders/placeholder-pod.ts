import type { Toleration } from '@berth/cluster-api';
import type { NodeWants, PlaceholderWish } from '@berth/domain';

/** Where agents' Pods may be, and so workers. */
export interface NodePlace {
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
}

export interface PlaceholderSurroundings {
  readonly namespace: string;
  /** An image that nodes have anyway, with `sleep`. */
  readonly image: string;
  /** Null: the cluster's default, which would take the places of others. */
  readonly priorityClass: string | null;
  readonly place: NodePlace;
}

/** By it agents and operators know what stands for a worker and is none. */
export const PLACEHOLDER_ROLE = { name: 'berth.role', value: 'placeholder' } as const;
/** What it asks for, as the plan compares it. */
export const WANTS_ANNOTATION = 'berth.wants';
const ENDPOINT_LABEL = 'berth.endpoint';
const GPU_RESOURCE = 'nvidia.com/gpu';
/** Of NVIDIA's feature discovery; the spaces of the driver's name are hyphens there. */
const GPU_PRODUCT = 'nvidia.com/gpu.product';
const NOBODY = 65_534;

/** As a worker asks for it, without anything of a worker's in it. */
export function placeholderPod(
  { endpointId, name, request, wants }: PlaceholderWish,
  { image, namespace, place, priorityClass }: PlaceholderSurroundings,
): object {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name, namespace },
      labels: { [PLACEHOLDER_ROLE.name]: PLACEHOLDER_ROLE.value, [ENDPOINT_LABEL]: endpointId },
      annotations: { [WANTS_ANNOTATION]: wants },
    },
    spec: {
      ...{ restartPolicy: 'Never', automountServiceAccountToken: false, enableServiceLinks: false },
      // It has nothing to end; without a grace of its own the API would forget it before its node has.
      terminationGracePeriodSeconds: 1,
      ...(priorityClass === null ? {} : { priorityClassName: priorityClass }),
      nodeSelector: place.nodeSelector,
      tolerations: [{ key: GPU_RESOURCE, operator: 'Exists' }, ...place.tolerations],
      ...affinityOf(request),
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: NOBODY, runAsGroup: NOBODY },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          ...{ name: 'placeholder', image, imagePullPolicy: 'IfNotPresent', command: ['sleep', 'infinity'] },
          resources: resourcesOf(request),
          securityContext: {
            ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          },
        },
      ],
    },
  };
}

function resourcesOf({ diskBytes, gpuCount, memoryBytes, vcpus }: NodeWants): object {
  const gpus = gpuCount === 0 ? {} : { [GPU_RESOURCE]: String(gpuCount) };
  const requests = { cpu: String(vcpus), memory: String(memoryBytes), 'ephemeral-storage': String(diskBytes), ...gpus };
  return { requests, limits: requests };
}

function affinityOf({ gpuTypeIds }: NodeWants): object {
  if (gpuTypeIds.length === 0) return {};
  const values = gpuTypeIds.map((typeId) => typeId.replaceAll(' ', '-'));
  const nodeSelectorTerms = [{ matchExpressions: [{ key: GPU_PRODUCT, operator: 'In', values }] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}
