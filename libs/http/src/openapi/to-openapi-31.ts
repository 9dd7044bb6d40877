import type { Schema } from '@berth/contracts/http';
import { mapComponents, mapOperations, mapValues, type ApiDocument, type Content } from './api-document.js';

const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Puts what is left of OpenAPI 3.0 into the words of 3.1, whose schemas are JSON Schema 2020-12: one `example` becomes the
 * first of `examples`, a bound that is exclusive becomes the bound's own keyword. Null is dealt with by the generator.
 */
export const toOpenApi31 = (document: ApiDocument): ApiDocument =>
  mapOperations({ ...mapComponents(document, modernized), openapi: '3.1.0' }, (operation) => ({
    ...operation,
    ...(operation.parameters === undefined
      ? {}
      : {
          parameters: operation.parameters.map(({ schema, ...parameter }) =>
            schema === undefined ? parameter : { ...parameter, schema: modernized(schema) },
          ),
        }),
    ...(operation.requestBody === undefined
      ? {}
      : { requestBody: { ...operation.requestBody, content: modernizedContent(operation.requestBody.content) } }),
    responses: mapValues(operation.responses, (response) =>
      '$ref' in response || response.content === undefined
        ? response
        : { ...response, content: modernizedContent(response.content) },
    ),
  }));

const modernizedContent = (content: Content): Content =>
  mapValues(content, (media) => (media.schema === undefined ? media : { ...media, schema: modernized(media.schema) }));

function modernized(schema: Schema): Schema {
  const { example, properties, items, additionalProperties, ...rest } = exclusive(schema);
  return {
    ...rest,
    ...(example === undefined ? {} : { examples: [example] }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, modernized) }),
    ...(items === undefined ? {} : { items: modernized(items) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: modernized(additionalProperties) } : {}),
    ...(typeof additionalProperties === 'boolean' ? { additionalProperties } : {}),
    ...Object.fromEntries(
      LISTS.flatMap((word) => (rest[word] === undefined ? [] : [[word, rest[word].map(modernized)]])),
    ),
  };
}

/** `minimum: 0, exclusiveMinimum: true` is `exclusiveMinimum: 0`. */
function exclusive(schema: Schema): Schema {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  return {
    ...rest,
    ...bound('Minimum', minimum, exclusiveMinimum),
    ...bound('Maximum', maximum, exclusiveMaximum),
  };
}

function bound(word: 'Minimum' | 'Maximum', value: unknown, isExclusive: unknown): Schema {
  if (typeof isExclusive === 'number') return { [`exclusive${word}`]: isExclusive };
  if (value === undefined) return {};
  return isExclusive === true ? { [`exclusive${word}`]: value } : { [word.toLowerCase()]: value };
}
