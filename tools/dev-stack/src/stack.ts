import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@berth/lifecycle';
import { publicNatsKeys } from '@berth/broker-access';
import { runCommand, startNatsServer, startPostgres } from '@berth/servers';
import { appEnvironment, baseUrl, localUrl, type AppEnvironment, type StackFacts } from './app-environment.js';
import { appProcesses, type AppProcess, type AppProcesses } from './app-processes.js';
import { startAppServer } from './app-server.js';
import { describeStack, operationsUrl } from './describe-stack.js';
import { DevFileWriter, type DevFile, type ProcessName } from './dev-file.js';
import { HostNetworks } from './host-networks/index.js';
import { LocalAgent } from './local-agent.js';
import { StackClient } from './management-client.js';
import { isConfined } from './is-confined.js';
import { writeOperatorFile } from './operator-file.js';
import { rootOf } from './process-roots.js';
import type { Progress } from './progress.js';
import { requireKnownKey } from './require-known-key.js';
import { Supervisor, type Running } from './supervisor.js';
import { waitForHost, waitUntilReady } from './wait-until-ready.js';

export interface StackOptions {
  readonly facts: Omit<StackFacts, 'natsUrl' | 'databaseUrl'>;
  /** Absolute. */
  readonly repository: string;
  /** What every child needs of the machine: `PATH`, package caches, certificates. */
  readonly inherited: AppEnvironment;
  readonly progress: Progress;
  readonly onGiveUp: (reason: string) => void;
}

const MIGRATE_MS = 60_000;
/**
 * Agents first, while there is a router to give their jobs back to; servers last. Those of one line end together, so that
 * the sum stays below 30 s with any number of routers.
 */
const stopOrder = ({ agents, routers }: AppProcesses): readonly (readonly ProcessName[])[] => [
  agents.map(({ name }) => name),
  routers.map(({ name }) => name),
  ['controllers'],
  ['management-api'],
  ['nats-server'],
  ['postgres'],
];

/** All processes of one installation, started in order, kept running, stopped in order. */
export class Stack {
  readonly #options: StackOptions;
  readonly #logs: string;
  readonly #apps: AppProcesses;
  readonly #supervisors = new Map<ProcessName, Supervisor>();
  readonly #pids = new Map<ProcessName, number>([['launcher', process.pid]]);
  readonly #devFile: DevFileWriter;
  #facts: StackFacts;
  #readyAt: string | null = null;
  #hostNetworks: HostNetworks | null = null;
  #agents: readonly LocalAgent[] = [];
  #isStopping = false;

  constructor(options: StackOptions) {
    const { config } = options.facts;
    this.#options = options;
    this.#logs = join(config.home, 'logs');
    this.#apps = appProcesses(options.facts.ports);
    this.#devFile = new DevFileWriter(config.home);
    this.#facts = { ...options.facts, natsUrl: config.natsUrl ?? '', databaseUrl: config.databaseUrl ?? '' };
  }

  get client(): StackClient {
    return new StackClient(this.#facts.secrets.apiKey);
  }

  /** Resolves when everything is ready and `dev.json` is written. */
  async start(): Promise<void> {
    const { progress } = this.#options;
    const { ports } = this.#facts;
    await mkdir(this.#logs, { recursive: true });
    await Promise.all([
      progress.step('broker (nats-server)', () => this.#startBroker()),
      progress.step('database (PostgreSQL)', () => this.#startDatabase()),
    ]);
    await progress.step('database migrations and account', () => this.#runOnce('migrate.main.js'));
    const { routers } = this.#apps;
    const which = routers.length === 1 ? 'router' : `${routers.length} routers`;
    await progress.step(`management API, controllers, ${which}`, () => this.#startServices());
    const { agents } = this.#apps;
    const hosts = agents.length === 1 ? 'worker agent' : `${agents.length} worker agents`;
    await progress.step(`${hosts} on this machine`, () => this.#startAgents());
    this.#assertWanted();
    await writeOperatorFile(this.#facts);
    this.#readyAt = new Date(systemClock.nowMs()).toISOString();
    await this.#publish();
    const runUrls = routers.map(({ httpPort }) => localUrl(httpPort)).join(', ');
    progress.line(`ready after ${(progress.elapsedMs / 1000).toFixed(1)} s: ${baseUrl(ports)} and ${runUrls}`);
  }

  /** Takes `dev.json` away and ends everything in order. Safe to call while starting and twice. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#readyAt = null;
    await Promise.all([this.#devFile.remove(), this.#stopInOrder()]);
  }

  async #stopInOrder(): Promise<void> {
    for (const names of stopOrder(this.#apps)) {
      await Promise.all(names.map(async (name) => this.#supervisors.get(name)?.stop()));
    }
    await this.#hostNetworks?.close();
  }

  async #startBroker(): Promise<void> {
    const { config, ports, secrets } = this.#facts;
    if (config.natsUrl !== null) return;
    const start = async (): Promise<Running> => {
      const server = await startNatsServer({
        storeDir: join(config.home, 'nats'),
        port: ports.nats,
        httpPort: ports.natsMonitoring,
        auth: { kind: 'roles', keys: publicNatsKeys(secrets.nats) },
      });
      this.#facts = { ...this.#facts, natsUrl: server.url };
      return server;
    };
    await this.#supervise('nats-server', join(config.home, 'nats/nats-server.log'), start);
  }

  async #startDatabase(): Promise<void> {
    const { config, ports } = this.#facts;
    if (config.databaseUrl !== null) return;
    const start = async (): Promise<Running> => {
      const server = await startPostgres({ dataDir: join(config.home, 'postgres'), port: ports.postgres });
      this.#facts = { ...this.#facts, databaseUrl: server.url };
      return server;
    };
    await this.#supervise('postgres', join(config.home, 'postgres/postgres.log'), start);
  }

  async #startServices(): Promise<void> {
    const { controllers, managementApi, routers } = this.#apps;
    const services = [managementApi, ...routers, controllers];
    const { inherited } = this.#options;
    await Promise.all(services.map((each) => this.#startApp(each, () => appEnvironment(each, this.#facts, inherited))));
    await Promise.all(services.map((each) => this.#waitUntilReady(each, operationsUrl(each))));
    const { config, ports, secrets } = this.#facts;
    await requireKnownKey(this.client, { home: config.home, baseUrl: baseUrl(ports), secrets });
  }

  async #startAgents(): Promise<void> {
    const { config, ports, runtime } = this.#facts;
    const networks = await HostNetworks.open({
      ...{ home: config.home, hosts: config.hosts, runtime, isRoot: process.getuid?.() === 0 },
      brokerPort: config.natsUrl === null ? ports.nats : null,
      say: (line) => this.#options.progress.line(line),
    });
    this.#hostNetworks = networks;
    this.#agents = this.#apps.agents.map((agent, index) => {
      const network = networks.of(index);
      return new LocalAgent(agent, index, { home: config.home, ...(network !== undefined && { network }) });
    });
    await Promise.all(this.#agents.map((agent) => this.#startAgent(agent)));
    const [first] = this.#agents;
    if (this.#facts.engine !== null && first !== undefined) await this.#tellConfinement(first);
  }

  async #startAgent(agent: LocalAgent): Promise<void> {
    const address = baseUrl(this.#facts.ports);
    const hostId = await agent.identify(this.client, address);
    const environment = (): AppEnvironment => agent.environment(this.#facts, this.#options.inherited);
    await this.#startApp(agent.process, environment, agent.wrapper);
    await this.#waitUntilReady(agent.process, agent.operationsUrl);
    await waitForHost(this.client, address, hostId);
  }

  /** A person whose containers nothing confines must not learn it from a log file. */
  async #tellConfinement(agent: LocalAgent): Promise<void> {
    if (await isConfined(agent.operationsUrl)) return;
    this.#options.progress.line(
      'WARNING: containers are not confined here: they may reach this machine and its networks. ' +
        `Run your own code only. Why: ${join(this.#logs, 'worker-agent.log')}`,
    );
  }

  async #waitUntilReady({ name }: AppProcess, address: string): Promise<void> {
    const { progress } = this.#options;
    await waitUntilReady(address, { say: (line) => progress.line(`${name} ${line}`) });
    this.#supervisors.get(name)?.markReady();
  }

  async #startApp(
    appProcess: AppProcess,
    environment: () => AppEnvironment,
    wrapper: readonly string[] = [],
  ): Promise<void> {
    const { name } = appProcess;
    const { home } = this.#facts.config;
    const { repository } = this.#options;
    const logFile = join(this.#logs, `${name}.log`);
    await this.#supervise(name, logFile, () =>
      startAppServer(appProcess, { home, repository, logFile, environment: environment(), wrapper }),
    );
  }

  async #supervise(name: ProcessName, logFile: string, start: () => Promise<Running>): Promise<void> {
    this.#assertWanted();
    const { progress, onGiveUp } = this.#options;
    const supervisor = new Supervisor(name, logFile, {
      start,
      clock: systemClock,
      say: (line) => progress.line(line),
      onPid: async (process, pid) => {
        this.#pids.set(process, pid);
        await this.#publish();
      },
      onGiveUp,
    });
    this.#supervisors.set(name, supervisor);
    await supervisor.start();
  }

  /** A start that is still under way must not go on behind the back of the stop. */
  #assertWanted(): void {
    if (this.#isStopping) throw new Error('the stack is stopping');
  }

  async #runOnce(entry: string): Promise<void> {
    const { repository, inherited } = this.#options;
    const root = rootOf('management-api', { home: this.#facts.config.home, repository });
    await runCommand(process.execPath, [join(root, 'apps/management-api/dist', entry)], {
      timeoutMs: MIGRATE_MS,
      env: { ...appEnvironment(this.#apps.managementApi, this.#facts, inherited) },
    });
  }

  /** Before everything is ready there is no `dev.json`; afterwards it follows each new pid. */
  #publish(): Promise<void> {
    return this.#devFile.write(() => this.#describe());
  }

  #describe(): DevFile | null {
    if (this.#readyAt === null) return null;
    const pids = Object.fromEntries(this.#pids);
    const hosts = this.#agents.flatMap((agent) => agent.describe() ?? []);
    return describeStack(this.#facts, { pids, hosts, readyAt: this.#readyAt });
  }
}
