import { isDeepStrictEqual } from 'node:util';
import type { Schema, Schemas } from '@berth/contracts/http';
import { componentName, mapComponents, mapOperations, mapValues, type ApiDocument, type MediaType } from '@berth/http';
import { exampleOf } from './example-of.js';
import { withFieldRules } from './field-rules.js';

/** Says of every body what it refuses and how it may look: a minimal and a full example, unless the handler gives its own. */
export function describeRequests(document: ApiDocument): ApiDocument {
  const { schemas } = document.components;
  const inRequests = requestComponents(document);
  const withExample = mapOperations(document, (operation) => {
    const { requestBody } = operation;
    if (requestBody === undefined) return operation;
    const content = mapValues(requestBody.content, (media) => withExamples(media, schemas));
    return { ...operation, requestBody: { ...requestBody, content } };
  });
  return mapComponents(withExample, (schema, name) =>
    inRequests.has(name) ? withFieldRules({ ...schema, additionalProperties: false }) : schema,
  );
}

function withExamples(media: MediaType, schemas: Schemas): MediaType {
  if (media.schema === undefined || media.examples !== undefined) return media;
  const [minimal, full] = [exampleOf(media.schema, schemas, 'minimal'), exampleOf(media.schema, schemas, 'full')];
  const examples = {
    ...(isDeepStrictEqual(minimal, full) ? {} : { minimal: { summary: 'As little as possible', value: minimal } }),
    full: { summary: 'Everything', value: full },
  };
  return { ...media, examples };
}

/** The names of the schemas of which request bodies are made. */
function requestComponents({ paths, components }: ApiDocument): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (schema: Schema): void => {
    const name = componentName(schema);
    if (name !== undefined && !found.has(name)) {
      found.add(name);
      visit(components.schemas[name] ?? {});
    }
    innerSchemas(schema).forEach(visit);
  };
  for (const { requestBody } of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    for (const { schema = {} } of Object.values(requestBody?.content ?? {})) visit(schema);
  }
  return found;
}

const innerSchemas = ({ allOf = [], anyOf = [], items, oneOf = [], properties = {} }: Schema): readonly Schema[] => [
  ...Object.values(properties),
  ...(items === undefined ? [] : [items]),
  ...allOf,
  ...anyOf,
  ...oneOf,
];
