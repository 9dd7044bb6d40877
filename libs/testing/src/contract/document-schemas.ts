import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Schema } from '@berth/contracts/http';
import type { ApiDocument } from '@berth/http';

const DOCUMENT = 'berth:openapi';

/** Validates values against the schemas of an OpenAPI document, wherever in the document they are. */
export class DocumentSchemas {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  /** @param isClosed members that are not described are failures, also where the document allows for new ones */
  constructor(document: ApiDocument, { isClosed = false } = {}) {
    formats.default(this.#ajv);
    const schemas = isClosed ? closed(document) : document;
    this.#ajv.addSchema({ $id: DOCUMENT, ...(schemas as unknown as AnySchemaObject) });
  }

  /**
   * @param place the way to the schema: `['components', 'schemas', 'EndpointBody']`
   * @returns what is wrong with the value, one line each; empty when nothing is
   */
  failures(place: readonly string[], value: unknown): readonly string[] {
    const validate = this.#validatorOf(pointerTo(place));
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }

  #validatorOf(pointer: string): ValidateFunction {
    const known = this.#validators.get(pointer);
    if (known !== undefined) return known;
    const made = this.#ajv.compile({ $ref: `${DOCUMENT}#${pointer}` });
    this.#validators.set(pointer, made);
    return made;
  }
}

const pointerTo = (place: readonly string[]): string =>
  place.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

function closed(document: ApiDocument): ApiDocument {
  const { components } = document;
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [name, closedSchema(schema)] as const);
  return { ...document, components: { ...components, schemas: Object.fromEntries(schemas) } };
}

/** Members are declared in components only, so that nothing deeper has to be closed. */
const closedSchema = (schema: Schema): Schema =>
  schema.properties === undefined ? schema : { ...schema, additionalProperties: schema.additionalProperties ?? false };
