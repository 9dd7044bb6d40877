import { execFile } from 'node:child_process';
import { chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import {
  allocatePorts,
  findNatsServer,
  pollUntil,
  runCommand,
  spawnServer,
  startPostgres,
  type PostgresServer,
  type ServerProcess,
} from '@berth/servers';
import { Client, escapeLiteral } from 'pg';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const COMMAND_MS = 60_000;
const READY_MS = 120_000;

const PROGRAMS = {
  'management-api': 'apps/management-api/dist/main.js',
  controllers: 'apps/management-api/dist/controllers.main.js',
  'job-router': 'apps/job-router/dist/main.js',
  'worker-agent': 'apps/worker-agent/dist/main.js',
} as const;

type ProgramName = keyof typeof PROGRAMS;

interface CallOptions {
  readonly body?: object;
  readonly key?: string;
}

export interface Answer {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects of it
  readonly body: any;
}

interface Started {
  readonly server: ServerProcess;
  /** Of its health. */
  readonly url: string;
}

interface Ports {
  readonly client: number;
  readonly peer: number;
  readonly monitor: number;
  readonly api: number;
  readonly router: number;
}

/** What `berth doctor` said, and how it ended. */
export interface Diagnosis {
  readonly status: number;
  readonly findings: readonly {
    readonly area: string;
    readonly state: string;
    readonly says: string;
    readonly mend: string | null;
  }[];
}

/** What `berth init` wrote, run as its pages say: each process with its own file, and nothing else but where it runs. */
export class InstalledStack {
  readonly installation: string;
  readonly #home: string;
  readonly #ports: Ports;
  readonly #brokers: 1 | 3;
  readonly #servers: ServerProcess[] = [];
  readonly #brokerServers = new Map<number, ServerProcess>();
  readonly #operationsUrls: string[] = [];
  #postgres: PostgresServer | undefined;
  #firstKey = '';

  private constructor(home: string, brokers: 1 | 3, ports: Ports) {
    this.#home = home;
    this.#brokers = brokers;
    this.#ports = ports;
    this.installation = join(home, 'installation');
  }

  /** Servers and an installation; none of our processes yet. */
  static async open(home: string, brokers: 1 | 3): Promise<InstalledStack> {
    const reserved = await allocatePorts(5);
    const [client = 0, peer = 0, monitor = 0, api = 0, router = 0] = reserved.ports;
    await reserved.release();
    const stack = new InstalledStack(home, brokers, { client, peer, monitor, api, router });
    await stack.#startServers();
    return stack;
  }

  get firstKey(): string {
    return this.#firstKey;
  }

  get ports(): Ports {
    return this.#ports;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${String(this.#ports.api)}`;
  }

  get runUrl(): string {
    return `http://127.0.0.1:${String(this.#ports.router)}`;
  }

  get brokerHosts(): readonly string[] {
    return Array.from({ length: this.#brokers }, (_, at) => `127.0.0.${String(at + 1)}`);
  }

  get #brokerStore(): string {
    return join(this.#home, 'streams');
  }

  /** Variables of one of the files. */
  async environment(name: string): Promise<Record<string, string>> {
    return parseEnv(await readFile(join(this.installation, `env/${name}.env`), 'utf8')) as Record<string, string>;
  }

  authority(): Promise<string> {
    return readFile(join(this.installation, 'tls/ca.crt'), 'utf8');
  }

  async migrate(): Promise<void> {
    await this.#runNode('apps/management-api/dist/migrate.main.js', [], await this.environment('migrate'));
  }

  /** Starts all but agents, and waits until they say that they are ready. */
  async startProcesses(): Promise<void> {
    const ports = { BERTH_HTTP_PORT: String(this.#ports.api) };
    const started = [
      await this.start('management-api', ports),
      await this.start('controllers'),
      await this.start('job-router', { BERTH_HTTP_PORT: String(this.#ports.router) }),
    ];
    for (const { server, url } of started) {
      await waitUntilHealthy({ server, url: `${url}/readyz` });
      this.#operationsUrls.push(url);
    }
  }

  /** Starts a process; resolves with where its health is. Of several of a program each has a name of its own. */
  async start(
    program: ProgramName,
    more: Readonly<Record<string, string>> = {},
    name: string = program,
  ): Promise<Started> {
    const reserved = await allocatePorts(1);
    const [port = 0] = reserved.ports;
    await reserved.release();
    const own = { ...more, BERTH_OPERATIONS_PORT: String(port), BERTH_LOG_FORMAT: 'json' };
    const environment = { ...inherited(), ...(await this.environment(program)), ...own };
    const server = await this.#spawn(name, [process.execPath, join(REPOSITORY, PROGRAMS[program])], environment);
    return { server, url: `http://127.0.0.1:${String(port)}` };
  }

  /** A host that runs workers as processes. */
  async startHost(token: string): Promise<Pick<ServerProcess, 'stop'>> {
    const home = join(this.#home, 'host');
    const { server } = await this.start('worker-agent', {
      BERTH_JOIN_TOKEN: token,
      BERTH_HOME: home,
      BERTH_RUNTIME: 'process',
      BERTH_IMAGES: join(REPOSITORY, 'examples/workers'),
      BERTH_VCPUS: '64',
    });
    return server;
  }

  async call(method: 'GET' | 'POST', url: string, { body, key = this.#firstKey }: CallOptions = {}): Promise<Answer> {
    const answer = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(COMMAND_MS),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  }

  /** Runs the command as an operator would; resolves with what it printed. */
  berth(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.#runNode('apps/berth/dist/main.js', args, environment);
  }

  /** What `berth doctor` finds with the operator's settings and a key, but for what is given. */
  async doctor(changed: Readonly<Record<string, string>> = {}): Promise<Diagnosis> {
    const environment = {
      ...inherited(),
      ...(await this.environment('operator')),
      BERTH_OPERATIONS_URLS: this.#operationsUrls.join(','),
      BERTH_API_KEY: this.#firstKey,
      ...changed,
    };
    const program = [join(REPOSITORY, 'apps/berth/dist/main.js'), 'doctor', '--json'];
    const { promise, resolve: resolveWith } = Promise.withResolvers<{ status: number; stdout: string }>();
    const child = execFile(process.execPath, program, { env: environment, timeout: COMMAND_MS }, (_error, stdout) => {
      resolveWith({ status: child.exitCode ?? -1, stdout });
    });
    const { status, stdout } = await promise;
    return { status, findings: (JSON.parse(stdout) as Pick<Diagnosis, 'findings'>).findings };
  }

  /** Asks the database as its superuser. */
  async query(sql: string): Promise<void> {
    const { BERTH_DATABASE_URL = '' } = await this.environment('migrate');
    const url = new URL(BERTH_DATABASE_URL);
    url.searchParams.delete('sslmode');
    const database = new Client({ connectionString: url.href, ssl: { ca: await this.authority() } });
    await database.connect();
    try {
      await database.query(sql);
    } finally {
      await database.end();
    }
  }

  /** @param at number of the broker, from 0 on */
  async stopBroker(at: number): Promise<void> {
    await this.#brokerServers.get(at)?.stop();
  }

  async startBroker(at: number): Promise<void> {
    await this.#startBroker(at);
  }

  /** What is wrong in the log of an endpoint, and what it adds up to, as `berth log` says it. */
  async checkLog(endpointId: string): Promise<string> {
    const program = 'apps/berth/dist/main.js';
    return this.#runNode(program, ['log', endpointId, '--check'], await this.environment('operator'));
  }

  async close(): Promise<void> {
    for (const server of this.#servers.splice(0).toReversed()) await server.stop();
    await this.#postgres?.stop();
  }

  /** Ends everything, and begins again with empty servers: what `berth init` wrote is all that is left. */
  async loseEverything(): Promise<void> {
    const port = this.#postgres?.port;
    await this.close();
    for (const folder of ['postgres', ...this.brokerHosts.map((_, at) => brokerName(at))]) {
      await rm(join(this.#home, folder), { recursive: true });
    }
    this.#postgres = await startPostgres({
      dataDir: join(this.#home, 'postgres'),
      ...(port !== undefined && { port }),
    });
    await this.#secureDatabase(this.#postgres);
    await this.#startBrokers();
  }

  async #startServers(): Promise<void> {
    const postgres = await startPostgres({ dataDir: join(this.#home, 'postgres') });
    this.#postgres = postgres;
    const { client, peer, monitor } = this.#ports;
    const said = await this.berth([
      ...['init', this.installation, '--json', '--brokers', String(this.#brokers)],
      ...this.brokerHosts.flatMap((host) => ['--broker-host', host]),
      ...['--broker-store', this.#brokerStore],
      ...['--broker-port', String(client), '--peer-port', String(peer), '--monitor-port', String(monitor)],
      ...['--database-host', '127.0.0.1', '--database-port', String(postgres.port)],
      ...['--base-url', this.baseUrl, '--run-url', this.runUrl, '--storage-gib', '2'],
      ...['--lb-domain', `localhost:${String(this.#ports.router)}`],
    ]);
    this.#firstKey = (JSON.parse(said) as { firstKey: string }).firstKey;
    await this.#secureDatabase(postgres);
    await this.#startBrokers();
  }

  async #startBrokers(): Promise<void> {
    await Promise.all(this.brokerHosts.map((_, at) => this.#startBroker(at)));
  }

  /** What an image of PostgreSQL makes of `postgres.env`, and its operator of the certificate. */
  async #secureDatabase(postgres: PostgresServer): Promise<void> {
    const { POSTGRES_DB = '', POSTGRES_PASSWORD = '', POSTGRES_USER = '' } = await this.environment('postgres');
    const cluster = join(this.#home, 'postgres/cluster');
    const certificate = join(cluster, 'server.pem');
    await writeFile(certificate, await readFile(join(this.installation, 'tls/postgres.pem')), { mode: 0o600 });
    const { gid, uid } = await stat(cluster);
    await chown(certificate, uid, gid);
    const database = new Client({ connectionString: postgres.url });
    await database.connect();
    await database.query(`ALTER SYSTEM SET ssl_cert_file = 'server.pem'`);
    await database.query(`ALTER SYSTEM SET ssl_key_file = 'server.pem'`);
    await database.query(`ALTER SYSTEM SET ssl = on`);
    await database.query(`SELECT pg_reload_conf()`);
    await database.query(`CREATE DATABASE ${POSTGRES_DB}`);
    await database.query(`ALTER USER ${POSTGRES_USER} PASSWORD ${escapeLiteral(POSTGRES_PASSWORD)}`);
    await database.end();
  }

  async #startBroker(at: number): Promise<void> {
    const name = brokerName(at);
    const { executable } = await findNatsServer();
    const store = join(this.#home, name);
    await mkdir(store, { recursive: true });
    // On a machine of its own each broker has the folder that the file names; these share one machine.
    const written = await readFile(join(this.installation, `broker/${name}.conf`), 'utf8');
    const config = join(store, 'broker.conf');
    await writeFile(config, written.replace(this.#brokerStore, store));
    const server = await this.#spawn(name, [executable, '--config', config], inherited());
    this.#brokerServers.set(at, server);
    const monitor = `http://${this.brokerHosts[at] ?? ''}:${String(this.#ports.monitor)}`;
    await waitUntilHealthy({ server, url: `${monitor}/healthz` });
  }

  async #spawn(
    name: string,
    command: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<ServerProcess> {
    const [executable = '', ...args] = command;
    const folder = join(this.#home, 'run');
    await mkdir(folder, { recursive: true });
    const files = { logFile: join(folder, `${name}.log`), pidFile: join(folder, `${name}.pid`) };
    const server = await spawnServer({ name, executable, args, folder, ...files, env, stopSignal: 'SIGTERM' });
    this.#servers.push(server);
    return server;
  }

  #runNode(program: string, args: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
    return runCommand(process.execPath, [join(REPOSITORY, program), ...args], {
      timeoutMs: COMMAND_MS,
      cwd: dirname(this.installation),
      env: { ...inherited(), ...environment },
    });
  }
}

const brokerName = (at: number): string => `broker-${String(at + 1)}`;

const inherited = (): Record<string, string> => ({ PATH: '/usr/bin:/bin' });

/** A process that has ended will not get ready any more. */
export async function waitUntilHealthy({ server, url }: Started): Promise<void> {
  const isReady = await pollUntil(async () => (server.isRunning ? (await answersWell(url)) || undefined : false), {
    what: url,
    deadlineMs: READY_MS,
    intervalMs: 100,
  });
  if (!isReady) throw await server.startError();
}

async function answersWell(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}
