import type { ApiDocument, ApiResponse, Header, Operation } from '@berth/http';
import { DocumentSchemas } from './document-schemas.js';

/** A request with its answer, as they went over the wire. */
export interface CheckedExchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Text of the request's body. */
  readonly sent?: string | undefined;
  readonly status: number;
  readonly headers: Headers;
  /** Text of the answer's body. */
  readonly received: string;
}

interface Route {
  readonly pattern: RegExp;
  readonly path: string;
}

const NOT_FOUND = 404;
const NOT_ALLOWED = 405;
const JSON_TYPE = /^application\/(\w+\+)?json$/;
const PROBLEM_TYPE = 'application/problem+json';

/** Compares what is said over HTTP with what the OpenAPI document says, status by status and member by member. */
export class ContractChecker {
  readonly #document: ApiDocument;
  readonly #answers: DocumentSchemas;
  readonly #requests: DocumentSchemas;
  readonly #routes: readonly Route[];

  constructor(document: ApiDocument) {
    this.#document = document;
    this.#answers = new DocumentSchemas(document, { isClosed: true });
    this.#requests = new DocumentSchemas(document);
    this.#routes = routesOf(document);
  }

  /** @throws Error naming everything that is not as documented */
  check(exchange: CheckedExchange): void {
    const { method, path, status } = exchange;
    const failures = this.#failures(exchange);
    if (failures.length === 0) return;
    throw new Error(`${method} ${path} answered ${status} other than documented:\n${failures.join('\n')}`);
  }

  #failures(exchange: CheckedExchange): readonly string[] {
    const { method, path, status } = exchange;
    const route = this.#routes.find(({ pattern }) => pattern.test(path.split('?')[0] ?? ''));
    if (route === undefined) return status === NOT_FOUND ? [] : ['there is no such path in the document'];
    const operations = this.#document.paths[route.path] ?? {};
    const verb = method.toLowerCase() === 'head' ? 'get' : method.toLowerCase();
    // What is said of another method is said of the path: every operation of it has the answer.
    const name = operations[verb] === undefined && status === NOT_ALLOWED ? Object.keys(operations)[0] : verb;
    const operation = operations[name ?? ''];
    if (name === undefined || operation === undefined) return ['there is no such operation in the document'];
    return [
      ...this.#answerFailures(exchange, operation, ['paths', route.path, name]),
      ...this.#requestFailures(exchange, operation, ['paths', route.path, name]),
    ];
  }

  #answerFailures(exchange: CheckedExchange, operation: Operation, place: readonly string[]): readonly string[] {
    const status = String(exchange.status);
    const [ofStatus, ofKind] = [operation.responses[status], operation.responses[`${status.slice(0, 1)}XX`]];
    const [given, name] = ofStatus === undefined ? [ofKind, `${status.slice(0, 1)}XX`] : [ofStatus, status];
    if (given === undefined)
      return [`the status is not documented; there are ${Object.keys(operation.responses).join(', ')}`];
    const [answer, at] = '$ref' in given ? this.#shared(given.$ref) : [given, [...place, 'responses', name]];
    return [...this.#headerFailures(exchange, answer), ...this.#bodyFailures(exchange, answer, at)];
  }

  #bodyFailures(
    { headers, method, received }: CheckedExchange,
    { content }: ApiResponse,
    at: readonly string[],
  ): readonly string[] {
    if (method === 'HEAD') return [];
    if (content === undefined) return received === '' ? [] : ['there is a body where none is documented'];
    const type = headers.get('content-type')?.split(';')[0]?.trim() ?? '';
    const media = content[type];
    if (media === undefined) return [`the content type ${type} is not documented`];
    if (!JSON_TYPE.test(type)) return [];
    const body: unknown = JSON.parse(received);
    const failures = this.#answers.failures([...at, 'content', type, 'schema'], body);
    return type === PROBLEM_TYPE ? [...failures, ...codeFailures(body, Object.keys(media.examples ?? {}))] : failures;
  }

  #headerFailures({ headers }: CheckedExchange, answer: ApiResponse): readonly string[] {
    const documented = answer.headers ?? {};
    const known = Object.keys(this.#document.components.headers ?? {});
    const strays = known.filter((name) => headers.has(name) && documented[name] === undefined);
    return [
      ...strays.map((name) => `the header ${name} is not documented`),
      ...Object.keys(documented).flatMap((name) => this.#oneHeaderFailures(name, headers.get(name))),
    ];
  }

  #oneHeaderFailures(name: string, value: string | null): readonly string[] {
    const header: Header | undefined = this.#document.components.headers?.[name];
    if (header === undefined) return [];
    if (value === null) return header.required === true ? [`the header ${name} is missing`] : [];
    const parsed = header.schema.type === 'integer' ? Number(value) : value;
    return this.#answers
      .failures(['components', 'headers', name, 'schema'], parsed)
      .map((failure) => `the header ${name}: ${failure}`);
  }

  /** A body that was accepted is one that the document allows. */
  #requestFailures(
    { sent, status }: CheckedExchange,
    operation: Operation,
    place: readonly string[],
  ): readonly string[] {
    const isAccepted = status >= 200 && status < 300;
    const type = 'application/json';
    if (!isAccepted || sent === undefined || operation.requestBody?.content[type] === undefined) return [];
    return this.#requests
      .failures([...place, 'requestBody', 'content', type, 'schema'], JSON.parse(sent))
      .map((failure) => `it accepted a body that the document refuses: ${failure}`);
  }

  #shared(reference: string): readonly [ApiResponse, readonly string[]] {
    const name = reference.split('/').at(-1) ?? '';
    const answer = this.#document.components.responses?.[name];
    if (answer === undefined) throw new Error(`no answer ${name}`);
    return [answer, ['components', 'responses', name]];
  }
}

/** Paths without parameters come first: `/v2/hosts/join-tokens` is no host. */
const routesOf = ({ paths }: ApiDocument): readonly Route[] =>
  Object.entries(paths)
    .map(([path, operations]) => ({ path, pattern: patternOf(path, manySegmentsOf(operations)) }))
    .sort((one, other) => parametersIn(one.path) - parametersIn(other.path));

const patternOf = (path: string, long: ReadonlySet<string>): RegExp =>
  new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (long.has(name) ? '.+' : '[^/]+'))}/?$`);

/** Parameters whose values have slashes, which OpenAPI has no word for. */
const manySegmentsOf = (operations: ApiDocument['paths'][string]): ReadonlySet<string> =>
  new Set(
    Object.values(operations)
      .flatMap(({ parameters = [] }) => parameters)
      .filter(({ schema }) => schema?.['x-multi-segment'] === true)
      .map(({ name }) => name),
  );

const parametersIn = (path: string): number => path.split('{').length - 1;

function codeFailures(body: unknown, codes: readonly string[]): readonly string[] {
  const code =
    String((body as { type?: unknown }).type)
      .split('/')
      .at(-1) ?? '';
  return codes.includes(code) ? [] : [`the problem ${code} is not documented here; there are ${codes.join(', ')}`];
}
