import { ID_SCHEMA as ID, type KnownParameters } from '@berth/http';

/** The parameter after each of these parts of a path. */
export const PARAMETERS_AFTER: KnownParameters = {
  accounts: { description: 'Id of the account.', schema: ID },
  'api-keys': { description: 'Id of the API key; not the key itself.', schema: ID },
  clusters: { description: 'Id of the cluster.', schema: ID },
  cpus: { description: 'Id of the CPU flavor.', schema: { ...ID, examples: ['cpu3c'] } },
  'data-centers': { description: 'Id of the data center.', schema: { ...ID, examples: ['LOCAL-1'] } },
  datacenters: { description: 'Id of the data center.', schema: { ...ID, examples: ['LOCAL-1'] } },
  gpus: { description: 'Id of the GPU type.', schema: { ...ID, examples: ['NVIDIA GeForce RTX 4090'] } },
  hosts: { description: 'Id of the host.', schema: ID },
  'network-volumes': { description: 'Id of the network volume.', schema: ID },
  pods: { description: 'Id of the pod.', schema: ID },
  problems: {
    description: 'Code of the problem: the last part of its `type`.',
    schema: { ...ID, examples: ['endpoint-not-found'] },
  },
  registries: { description: 'Id of the registry.', schema: ID },
  serverless: { description: 'Id of the endpoint.', schema: ID },
  templates: { description: 'Id of the template.', schema: ID },
  workers: { description: 'Id of the worker.', schema: ID },
};
