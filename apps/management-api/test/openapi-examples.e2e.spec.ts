import { expect, test } from '@jest/globals';
import { resolveSchema, type ApiDocument, type NamedExample, type Operation } from '@berth/http';
import { generateOpenApi } from '../src/openapi/generate-openapi.js';
import { useManagementApi, type Answer } from './management-bench.js';

const JSON_TYPE = 'application/json';

/** The members of examples that name other resources, and where those are made. */
const MADE_AT: Readonly<Record<string, string>> = {
  endpointIds: '/v2/serverless',
  networkVolumeIds: '/v2/network-volumes',
  networkVolumes: '/v2/network-volumes',
  registry: '/v2/registries',
  templateId: '/v2/templates',
};

/** Where a resource is not made by a POST to its collection: the path, and the member of its answer that is the id. */
const MADE_ELSEWHERE: Readonly<Record<string, readonly [string, string]>> = {
  '/v2/hosts': ['/v2/hosts/join-tokens', 'hostId'],
};

const bench = useManagementApi();
const document = JSON.parse(await generateOpenApi()) as ApiDocument;

/** Makes one of a collection, of its own full example. @returns its id */
async function make(collection: string): Promise<string> {
  const [path, member] = MADE_ELSEWHERE[collection] ?? [collection, 'id'];
  const { body, status } = await send('post', path, 'full');
  expect({ path, status }).toEqual({ path, status: 201 });
  return body[member] as string;
}

async function send(method: string, path: string, name: string): Promise<Answer> {
  const value = examplesOf(document.paths[path]?.[method])[name]?.value;
  const [address, body] = [await withIds(path), await withReferences(value)];
  return bench.call(`${method.toUpperCase()} ${address}`, { body });
}

/** The path with a new resource for each of its parameters. */
async function withIds(path: string, parentId = ''): Promise<string> {
  const [before = '', rest] = path.split(/\/\{\w+\}(.*)/s);
  if (rest === undefined) return path;
  const id = before === '/workers' ? await placeWorker(parentId) : await make(before);
  return `${before}/${id}${await withIds(rest, id)}`;
}

/** As the control loops do: nobody makes a worker by a request. @returns its id */
async function placeWorker(endpointId: string): Promise<string> {
  const resources = { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
  const id = `${endpointId}-worker`;
  await bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources) VALUES ($1, $2, $3, 1, 'running', $4)`,
    [id, endpointId, await make('/v2/hosts'), JSON.stringify(resources)],
  );
  return id;
}

async function withReferences(value: unknown): Promise<unknown> {
  const members = Object.entries(value as object).map(async ([name, member]: [string, unknown]) => {
    const collection = MADE_AT[name];
    if (collection === undefined) return [name, member] as const;
    const id = await make(collection);
    return [name, Array.isArray(member) ? [id] : id] as const;
  });
  return Object.fromEntries(await Promise.all(members));
}

const examplesOf = (operation: Operation | undefined): Readonly<Record<string, NamedExample>> =>
  (operation?.requestBody?.content[JSON_TYPE]?.examples ?? {}) as Readonly<Record<string, NamedExample>>;

const cases = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, operation]) =>
    Object.keys(examplesOf(operation)).map((name) => [name, method, path] as const),
  ),
);

test.each(cases)('the %s example of %s %s is answered with the documented success', async (name, method, path) => {
  const { body, status } = await send(method, path, name);
  const documented = Object.keys(document.paths[path]?.[method]?.responses ?? {});
  const [success] = documented.filter((each) => each.startsWith('2'));
  expect({ status, problem: body?.detail }).toEqual({ status: Number(success), problem: undefined });
  if (name === 'minimal') expect(body).toMatchObject(defaultsOf(method, path, body as object));
});

/** What the answer has to show of members that the minimal example leaves out: their documented defaults. */
function defaultsOf(method: string, path: string, answer: object): object {
  const schema = document.paths[path]?.[method]?.requestBody?.content[JSON_TYPE]?.schema ?? {};
  const { properties = {} } = resolveSchema(schema, document.components.schemas);
  const sent = examplesOf(document.paths[path]?.[method])['minimal']?.value as object;
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name, { default: preset }]) => preset !== undefined && !(name in sent) && name in answer)
      .map(([name, { default: preset }]) => [name, preset]),
  );
}
