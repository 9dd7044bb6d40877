import type { ApiDocument, Operation } from '@berth/http';

/** The OpenAPI document as the running process serves it. */
export const readDocument = async (url: string): Promise<ApiDocument> =>
  (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;

/** Every operation of a document under its route: `GET /v2/serverless/{id}`. */
export const operationsOf = ({ paths }: ApiDocument): ReadonlyMap<string, Operation> =>
  new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
    ),
  );
