import { randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import { BUCKETS, type ApiKeySnapshot, type EndpointSnapshot, type HostSnapshot } from '@berth/contracts';
import { SCOPES } from '@berth/domain';
import { makeApiKey } from '@berth/http';
import { ConfigReader, systemClock, systemRandom, type Environment } from '@berth/lifecycle';
import { Broker, SnapshotWriter, plainCodec } from '@berth/messaging';
import { readSecretBox, type SecretBox } from '@berth/secrets';
import { systemProcess, type Main } from '@berth/telemetry';
import { ContractChecker } from '@berth/testing/contract';
import { useNatsServer, usePostgres, type NatsFixture, type PostgresFixture } from '@berth/testing/servers';
import { afterAll, beforeAll, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { loadManagementConfig } from '../src/config.js';
import type { ApiDocument } from '@berth/http';
import { createDataSource } from '../src/persistence/data-source.js';
import { Database } from '../src/persistence/database.js';
import { migrate } from '../src/persistence/migrate.js';
import { seedAccount } from '../src/accounts/seed-account.js';
import { startManagementApi } from '../src/compose.js';
import { request } from './request.js';

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
  readonly headers?: Readonly<Record<string, string>>;
  /** Which of the processes is asked; the first unless said. */
  readonly url?: string;
  /** A call that the document knows nothing of, on purpose. Every other answer is compared with it. */
  readonly isOffContract?: boolean;
}

export interface ManagementBenchOptions {
  /** The broker lets in roles and agents only, as in production. */
  readonly hasRoles?: boolean;
  /** Settings of every process, over those of the bench. */
  readonly environment?: Environment;
  /** Where every process logs; standard output when it is not given. */
  readonly log?: Writable;
}

type Stop = () => Promise<void> | void;

const SECRET_KEY_BYTES = 32;
const START_TIMEOUT_MS = 240_000;
const TEST_TIMEOUT_MS = 240_000;

/** The management API on a real PostgreSQL and a real broker, called through HTTP like any client would. */
export class ManagementBench {
  readonly nats: NatsFixture;
  readonly postgres: PostgresFixture;
  readonly #seedKey = makeApiKey(systemRandom);
  readonly operatorKey = this.#seedKey.key;
  readonly #secretKey = randomBytes(SECRET_KEY_BYTES).toString('base64');
  readonly #stops: Stop[] = [];
  #databaseUrl = '';
  #url = '';
  #operationsUrl = '';
  #source: DataSource | undefined;
  #broker: Broker | undefined;
  #contract: ContractChecker | undefined;

  readonly #hasRoles: boolean;
  readonly #environment: Environment;
  readonly #log: Writable | undefined;

  constructor({ environment = {}, hasRoles = false, log }: ManagementBenchOptions) {
    this.#hasRoles = hasRoles;
    this.#environment = environment;
    this.#log = log;
    this.nats = useNatsServer({ access: hasRoles ? 'roles' : 'open' });
    this.postgres = usePostgres();
  }

  get url(): string {
    return this.#url;
  }

  /** Opens what the processes have sealed. */
  get secrets(): SecretBox {
    return readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: this.#secretKey }));
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
    await seedAccount(new Database(this.#source), this.#seedKey, systemClock);
    this.#broker = await this.#connectBroker();
    this.#databaseUrl = databaseUrl;
    const { operationsUrl, url } = await this.startProcess();
    this.#url = url;
    this.#operationsUrl = operationsUrl;
    const document = await fetch(`${this.#url}/openapi.json`);
    this.#contract = new ContractChecker((await document.json()) as ApiDocument);
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    await this.#source?.destroy();
  }

  /** One more process on the same servers; it ends with the bench, or before. */
  async startProcess(
    environment: Environment = {},
  ): Promise<{ url: string; operationsUrl: string; stop: () => Promise<void> }> {
    const stops: Stop[] = [];
    const stop = async (): Promise<void> => {
      for (const each of stops.splice(0).reverse()) await each();
    };
    this.#stops.push(stop);
    const config = loadManagementConfig({
      BERTH_NATS_URL: this.nats.server.url,
      ...this.#seeds(),
      BERTH_DATABASE_URL: this.#databaseUrl,
      BERTH_SECRET_KEY: this.#secretKey,
      BERTH_HTTP_PORT: '0',
      BERTH_OPERATIONS_PORT: '0',
      BERTH_DRAIN_DELAY_MS: '0',
      BERTH_BASE_URL: 'https://api.example.com',
      BERTH_RUN_URL: 'https://jobs.example.com',
      BERTH_LB_DOMAIN: 'lb.example.com',
      BERTH_LOG_LEVEL: 'error',
      // A spec asks more in a minute than people do.
      BERTH_RATE_LIMIT_MINUTE: 'off',
      ...this.#environment,
      ...environment,
    });
    const parts = systemProcess(mainOf(stops), 'management-api', { ...config, output: this.#log });
    const { httpPort, operationsPort } = await startManagementApi(config, parts);
    return { url: `http://127.0.0.1:${httpPort}`, operationsUrl: `http://127.0.0.1:${operationsPort}`, stop };
  }

  /** @param operation method and path: `POST /v2/serverless` */
  async call(operation: string, options: CallOptions = {}): Promise<Answer> {
    const [method = 'GET', path = '/'] = operation.split(' ');
    const { body, contentType = 'application/json', headers: more, key = this.operatorKey, url = this.#url } = options;
    const text = options.text ?? (body === undefined ? undefined : JSON.stringify(body));
    const { headers, status, received } = await request(url, {
      method,
      path,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(text === undefined ? {} : { 'content-type': contentType }),
        ...more,
      },
      text,
    });
    if (options.isOffContract !== true) {
      this.#contract?.check({ method, path, sent: text, status, headers, received });
    }
    return { status, headers, body: received === '' ? null : parsed(received) };
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
    // Everybody may do everything on the bench's open broker.
    if (!this.#hasRoles) return { BERTH_TRUSTED_BROKER: 'on' };
    const { issuer, roles } = this.nats.keys;
    return {
      BERTH_NATS_SEED: roles.management,
      BERTH_AUTH_SEED: roles.callout,
      BERTH_AUTH_ISSUER_SEED: issuer,
      BERTH_AGENTS_SEED: roles.sessions,
      BERTH_SYSTEM_SEED: roles.system,
    };
  }
}

const mainOf = (stops: Stop[]): Main => ({
  onStop: (_name, stop) => stops.push(stop),
  allowMore: () => undefined,
  logTo: () => undefined,
  fail: (error) => {
    throw error;
  },
});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // A page or a metrics listing is text, and is compared as such.
    return text;
  }
};

/** Call once at the top of a spec. */
export function useManagementApi(options: ManagementBenchOptions = {}): ManagementBench {
  // Servers that start and stop beside others on a busy machine are slow now and then; a passing test never waits so long.
  jest.setTimeout(TEST_TIMEOUT_MS);
  const made: { bench?: ManagementBench } = {};
  // Before those of the servers, since these run in order, and a process without its servers takes long to stop.
  afterAll(() => made.bench?.close(), START_TIMEOUT_MS);
  const bench = (made.bench = new ManagementBench(options));
  beforeAll(() => bench.open(), START_TIMEOUT_MS);
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
