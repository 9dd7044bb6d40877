import { PARAMETER_MAX_CHARACTERS } from '@berth/http';
import type { Parameter } from './api-document.js';

const ID = { type: 'string', minLength: 1, maxLength: PARAMETER_MAX_CHARACTERS, examples: ['k3v9x0q2m7a1zd'] };

/** What the parameter after each of these parts of a path is. */
const AFTER: Readonly<Record<string, Pick<Parameter, 'description' | 'schema'>>> = {
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

/**
 * The parameters of a path, also those that the handler's types do not tell.
 *
 * @param parameters what the handler says; that is kept
 * @param path with each parameter as `{name}`
 */
export function pathParameters(parameters: readonly Parameter[], path: string): readonly Parameter[] {
  const parts = path.split('/');
  return parts.flatMap((part, index) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return [];
    const { description, schema } = AFTER[parts[index - 1] ?? ''] ?? {};
    const declared = parameters.find((each) => each.in === 'path' && each.name === name);
    return [
      {
        name,
        in: 'path',
        required: true,
        description: declared?.description ?? description,
        schema: { ...schema, ...declared?.schema },
      },
    ];
  });
}
