const MINIMAL: CreateV1EndpointDto = {
  name: 'llama',
  templateId: 'k3v9x0q2m7a1zd',
  gpuTypeIds: ['NVIDIA GeForce RTX 4090', 'NVIDIA L4'],
};

const FULL: CreateV1EndpointDto = {
  ...MINIMAL,
  computeType: 'GPU',
  gpuCount: 1,
  minCudaVersion: '12.1',
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 10,
  scalerType: 'QUEUE_DELAY',
  scalerValue: 4,
  executionTimeoutMs: 300_000,
  flashboot: true,
  dataCenterIds: ['LOCAL-1'],
  networkVolumeIds: ['k3v9x0q2m7a1zd'],
  env: { MODEL: 'llama' },
};

const CPU: CreateV1EndpointDto = { name: 'echo', templateId: 'k3v9x0q2m7a1zd', cpuFlavorIds: ['cpu3c'], vcpuCount: 2 };

/** Bodies for the document; a test sends each of them. */
export const CREATE_V1_EXAMPLES = {
  minimal: { summary: 'As little as possible', value: MINIMAL },
  full: { summary: 'Everything for GPUs', value: FULL },
  cpu: { summary: 'Without GPU', value: CPU },
};
import type { CreateV1EndpointDto } from '@berth/contracts/http';
