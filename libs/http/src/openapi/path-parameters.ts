import { PARAMETER_MAX_CHARACTERS } from '../app/http-app.js';
import type { Parameter } from './api-document.js';

/** Of an id in a path. */
export const ID_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: PARAMETER_MAX_CHARACTERS,
  examples: ['k3v9x0q2m7a1zd'],
};

/** The known parameters, by the part of the path before them. */
export type KnownParameters = Readonly<Record<string, Pick<Parameter, 'description' | 'schema'>>>;

/**
 * The parameters of a path, also those that the handler's types do not tell.
 *
 * @param parameters what the handler says; that is kept
 * @param path with each parameter as `{name}`
 */
export function pathParameters(
  parameters: readonly Parameter[],
  path: string,
  known: KnownParameters,
): readonly Parameter[] {
  const parts = path.split('/');
  return parts.flatMap((part, index) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return [];
    const { description, schema } = known[parts[index - 1] ?? ''] ?? {};
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
