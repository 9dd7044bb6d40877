import { BUCKETS, type ApiKeySnapshot, type EndpointSnapshot, type HostSnapshot } from '@berth/contracts';
import { SCOPES } from '@berth/domain';
import { makeApiKey } from '@berth/http';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, SnapshotWriter, plainCodec } from '@berth/messaging';
import type { Main } from '@berth/telemetry';
import { useNatsServer, usePostgres, type NatsFixture, type PostgresFixture } from '@berth/testing';
import { afterAll, beforeAll, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { loadConfig } from '../src/config.js';
import { createDataSource } from '../src/persistence/data-source.js';
import { Database } from '../src/persistence/database.js';
import { migrate } from '../src/persistence/migrate.js';
import { seedAccount } from '../src/persistence/seed-account.js';
import { startManagementApi } from '../src/start-management-api.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; null without a body. Loose on purpose: the assertions say what it must be. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

export interface CallOptions {
  /** Null: no key at all. Absent: the operator's. */
  readonly key?: string | null;
  readonly body?: unknown;
  /** Instead of `body`: sent as it is. */
  readonly text?: string;
  readonly contentType?: string;
}

const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 30_000;

/** The management API on a real PostgreSQL and a real broker, called through HTTP like any client would. */
export class ManagementBench {
  readonly nats: NatsFixture;
  readonly postgres: PostgresFixture;
  readonly operatorKey = makeApiKey(systemRandom).key;
  readonly #stops: (() => Promise<void> | void)[] = [];
  #url = '';
  #operationsUrl = '';
  #source: DataSource | undefined;
  #broker: Broker | undefined;

  readonly #hasRoles: boolean;

  /** @param hasRoles the broker lets in roles and agents only, as in production */
  constructor(hasRoles: boolean) {
    this.#hasRoles = hasRoles;
    this.nats = useNatsServer({ access: hasRoles ? 'roles' : 'open' });
    this.postgres = usePostgres();
  }

  get url(): string {
    return this.#url;
  }

  get operationsUrl(): string {
    return this.#operationsUrl;
  }

  /** The rows, for what only the control loops write. */
  get source(): DataSource {
    if (this.#source === undefined) throw new Error('The bench opens in beforeAll.');
    return this.#source;
  }

  async open(): Promise<void> {
    const databaseUrl = await this.postgres.freshDatabase();
    this.#source = createDataSource({ url: databaseUrl, applicationName: 'test', poolMax: 4 });
    await this.#source.initialize();
    await migrate(this.#source);
    await seedAccount(new Database(this.#source), this.operatorKey, systemClock);
    this.#broker = await this.#connectBroker();
    const config = loadConfig({
      BERTH_NATS_URL: this.nats.server.url,
      ...this.#seeds(),
      BERTH_DATABASE_URL: databaseUrl,
      BERTH_HTTP_PORT: '0',
      BERTH_OPERATIONS_PORT: '0',
      BERTH_BASE_URL: 'https://api.example.com',
      BERTH_RUN_URL: 'https://jobs.example.com',
      BERTH_LB_DOMAIN: 'lb.example.com',
      BERTH_LOG_LEVEL: 'error',
    });
    const { httpPort, operationsPort } = await startManagementApi(config, this.#main());
    this.#url = `http://127.0.0.1:${httpPort}`;
    this.#operationsUrl = `http://127.0.0.1:${operationsPort}`;
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    await this.#source?.destroy();
  }

  /** @param request method and path: `POST /v2/serverless` */
  async call(request: string, options: CallOptions = {}): Promise<Answer> {
    const [method = 'GET', path = '/'] = request.split(' ');
    const { body, contentType = 'application/json', key = this.operatorKey } = options;
    const text = options.text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(text === undefined ? {} : { 'content-type': contentType }),
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    return { status: response.status, headers: response.headers, body: answer === '' ? null : parsed(answer) };
  }

  /** A key of a new account, or of the account of `maker`. */
  async newKey(
    scopes: readonly string[],
    more: { readonly maker?: string; readonly endpointIds?: string[] } = {},
  ): Promise<string> {
    const { endpointIds, maker = await this.newAccount() } = more;
    const body = { name: 'test', scopes, ...(endpointIds === undefined ? {} : { endpointIds }) };
    const answer = await this.call('POST /v2/api-keys', { key: maker, body });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.key as string;
  }

  /** The first key of a new account: every scope but `admin`. */
  async newAccount(name = 'test'): Promise<string> {
    const answer = await this.call('POST /v2/accounts', { body: { name } });
    return answer.body.apiKey.key as string;
  }

  /** A key of the operator's account that lacks one scope. */
  async keyWithout(scope: string): Promise<string> {
    return this.newKey(
      SCOPES.filter((each) => each !== scope),
      { maker: this.operatorKey },
    );
  }

  endpointSnapshot(id: string): Promise<EndpointSnapshot | undefined> {
    return this.#snapshot<EndpointSnapshot>(BUCKETS.endpoints, id);
  }

  apiKeySnapshot(prefix: string): Promise<ApiKeySnapshot | undefined> {
    return this.#snapshot<ApiKeySnapshot>(BUCKETS.apiKeys, prefix);
  }

  hostSnapshot(id: string): Promise<HostSnapshot | undefined> {
    return this.#snapshot<HostSnapshot>(BUCKETS.hosts, id);
  }

  writerOf<Value>(bucket: string): SnapshotWriter<Value> {
    if (this.#broker === undefined) throw new Error('The bench opens in beforeAll.');
    return new SnapshotWriter<Value>({ broker: this.#broker, clock: systemClock, bucket, codec: plainCodec() });
  }

  async #snapshot<Value>(bucket: string, key: string): Promise<Value | undefined> {
    return (await this.writerOf<Value>(bucket).read(key))?.value;
  }

  async #connectBroker(): Promise<Broker> {
    if (!this.#hasRoles) return Broker.over({ connection: await this.nats.connect() });
    const connection = await this.nats.connectAs('management');
    return Broker.over({ connection, inboxPrefix: '_INBOX_management' });
  }

  #seeds(): Readonly<Record<string, string>> {
    if (!this.#hasRoles) return {};
    const { issuer, roles } = this.nats.keys;
    return {
      BERTH_NATS_SEED: roles.management,
      BERTH_AUTH_SEED: roles.callout,
      BERTH_AUTH_ISSUER_SEED: issuer,
    };
  }

  #main(): Main {
    return {
      onStop: (_name, stop) => this.#stops.push(stop),
      logTo: () => undefined,
      fail: (error) => {
        throw error;
      },
    };
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // A page or a metrics listing is text, and is compared as such.
    return text;
  }
};

/** Call once at the top of a spec. */
export function useManagementApi({ hasRoles = false } = {}): ManagementBench {
  // Servers that start and stop beside others on a busy machine are slow now and then; a passing test never waits so long.
  jest.setTimeout(TEST_TIMEOUT_MS);
  const bench = new ManagementBench(hasRoles);
  beforeAll(() => bench.open(), START_TIMEOUT_MS);
  afterAll(() => bench.close(), START_TIMEOUT_MS);
  return bench;
}

/** Paths of the fields that an answer complains about. */
export const failedPaths = ({ body }: Answer): string[] =>
  (body as { errors: string[] }).errors.map((error) => error.split(':')[0] ?? '');

/** One member of every item in a list of an answer. */
export const each = ({ body }: Answer, list: string, member: string): string[] =>
  (body as Record<string, Record<string, string>[]>)[list]?.map((item) => item[member] ?? '') ?? [];

export const QUEUE_ENDPOINT = {
  name: 'echo',
  type: 'QUEUE',
  image: 'local/echo',
  cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
  scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
} as const;
