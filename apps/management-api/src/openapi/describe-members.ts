import type { Schema } from '@berth/contracts/http';
import { mapComponents, mapOperations, mapValues, type ApiDocument } from '@berth/http';

const INSTANT = '2026-01-01T12:00:00.000Z';
const ID = 'k3v9x0q2m7a1zd';

/** Members that mean the same wherever they are. A body's own description of a member is kept. */
const KNOWN: Readonly<Record<string, Schema>> = {
  id: { description: 'Given when it is made, never changed.', examples: [ID] },
  name: { description: 'For people.', examples: ['llama'] },
  createdAt: { description: 'When it was made.', examples: [INSTANT] },
  endpointId: { description: 'Id of the endpoint.', examples: [ID] },
  hostId: { description: 'Id of the host.', examples: [ID] },
  dataCenterId: { description: 'Id of the data center.', examples: ['LOCAL-1'] },
  dataCenterIds: { description: 'Workers are placed here only, in this order of preference; empty: anywhere.' },
  image: { description: 'Container image.', examples: ['registry.example.com/team/worker:1.4'] },
  args: { description: 'Arguments of the entrypoint.', examples: ['--model llama'] },
  ports: { description: 'Each port/protocol.', examples: [['8080/http']] },
  env: { description: 'Environment variables.', examples: [{ MODEL: 'llama' }] },
  registry: { description: 'Id of the credentials for a private image; null: none.', examples: [ID] },
  flashboot: { description: 'Whether idle workers are paused for a faster start.' },
  gpuCount: { description: 'GPUs per worker; 0 where it has CPU only.', examples: [1] },
  gpuTypeId: { description: 'GPU type of the catalog; absent without GPU.', examples: ['NVIDIA GeForce RTX 4090'] },
};

/** Gives members the description and the example that go without saying in the code. */
export const describeMembers = (document: ApiDocument): ApiDocument =>
  mapOperations(
    mapComponents(document, ({ properties, ...schema }) =>
      properties === undefined ? schema : { ...schema, properties: mapValues(properties, described) },
    ),
    (operation) =>
      operation.parameters === undefined
        ? operation
        : {
            ...operation,
            parameters: operation.parameters.map((parameter) =>
              parameter.schema === undefined ? parameter : { ...parameter, schema: withExample(parameter.schema) },
            ),
          },
  );

function described(property: Schema, name: string): Schema {
  const { description, examples = [] } = KNOWN[name] ?? {};
  // A schema that is made of a body's own members is another thing of the same name.
  const isOther = property.$ref !== undefined || property.items?.$ref !== undefined;
  return withExample({
    ...(description === undefined ? {} : { description }),
    ...(isOther || examples.length === 0 ? {} : { examples }),
    ...property,
  });
}

function withExample(schema: Schema): Schema {
  if (schema.examples !== undefined) return schema;
  const example = obviousExample(schema);
  return example === undefined ? schema : { ...schema, examples: [example] };
}

/** Undefined where the schema does not say how a value may look. */
function obviousExample({ default: preset, enum: choices, format, items, type }: Schema): unknown {
  if (preset !== undefined) return preset;
  if (choices !== undefined) return choices[0];
  if (items?.enum !== undefined) return items.enum.slice(0, 1);
  if (format === 'date-time') return INSTANT;
  return type === 'boolean' ? true : undefined;
}
