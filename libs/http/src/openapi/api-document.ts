import type { Schema, Schemas } from '@berth/contracts/http';
import type { ErrorCode } from '@berth/domain';

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string | undefined;
  readonly schema?: Schema;
}

export interface NamedExample {
  readonly summary?: string;
  readonly description?: string;
  readonly value: unknown;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, NamedExample | Reference>>;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ApiResponse | Reference>>;
  /** Codes of the problems that the handler names; gone once they are answers. */
  readonly 'x-problems'?: readonly ErrorCode[];
}

/** An OpenAPI document, as far as it is looked into here. */
export interface ApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** The requests that are sent to addresses that callers name. */
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  readonly components: {
    readonly schemas: Schemas;
    readonly responses?: Readonly<Record<string, ApiResponse>>;
    readonly headers?: Readonly<Record<string, Header>>;
    readonly examples?: Readonly<Record<string, NamedExample>>;
    readonly [kind: string]: unknown;
  };
}

/** Where an operation is. */
export interface OperationPlace {
  readonly path: string;
  /** In lower case. */
  readonly method: string;
}

/** The same document with every operation changed. */
export const mapOperations = (
  document: ApiDocument,
  change: (operation: Operation, place: OperationPlace) => Operation,
): ApiDocument => ({
  ...document,
  paths: mapValues(document.paths, (operations, path) =>
    mapValues(operations, (operation, method) => change(operation, { path, method })),
  ),
});

/** The same document with the schemas of its components changed. */
export const mapComponents = (
  document: ApiDocument,
  change: (schema: Schema, name: string) => Schema,
): ApiDocument => ({
  ...document,
  components: { ...document.components, schemas: mapValues(document.components.schemas, change) },
});

export const mapValues = <From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, key: string) => To,
): Record<string, To> => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

const COMPONENT = '#/components/schemas/';

/** The component that a reference names; any other schema is itself. @throws Error when there is no such component */
export function resolveSchema(schema: Schema, schemas: Schemas): Schema {
  const name = componentName(schema);
  if (name === undefined) return schema;
  const component = schemas[name];
  if (component === undefined) throw new Error(`no schema ${name}`);
  return component;
}

export const componentName = ({ $ref }: Schema): string | undefined =>
  $ref?.startsWith(COMPONENT) === true ? $ref.slice(COMPONENT.length) : undefined;
