import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@berth/lifecycle';
import { findRefusal } from '@berth/telemetry';
import { publicNatsKeys, runCommand, spawnServer, startNatsServer, startPostgres } from '@berth/servers';
import { appEnvironment, baseUrl, localUrl, type AppEnvironment, type StackFacts } from './app-environment.js';
import { appProcesses, type AppName, type AppProcess, type AppProcesses } from './app-processes.js';
import { describeStack, operationsUrl } from './describe-stack.js';
import { DevFileWriter, type DevFile, type ProcessName } from './dev-file.js';
import { ensureHost, type LocalHost } from './ensure-host.js';
import { pidFileOf } from './leftovers.js';
import { StackClient } from './management-client.js';
import { isConfined } from './is-confined.js';
import type { Progress } from './progress.js';
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

const ENTRY: Readonly<Record<AppName, string>> = {
  'management-api': 'apps/management-api/dist/main.js',
  controllers: 'apps/management-api/dist/controllers.main.js',
  'job-router': 'apps/job-router/dist/main.js',
  'worker-agent': 'apps/worker-agent/dist/main.js',
};
const MIGRATE_MS = 60_000;
/**
 * Agents first, while there is a router to give their jobs back to; servers last. Those of one line end together, so that
 * the sum stays below 30 s with any number of routers.
 */
const stopOrder = ({ routers }: AppProcesses): readonly (readonly ProcessName[])[] => [
  ['worker-agent'],
  routers.map(({ name }) => name),
  ['controllers'],
  ['management-api'],
  ['nats-server'],
  ['postgres'],
];
const AGENT_STOP_MS = 15_000;
const APP_STOP_MS = 4_000;

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
  #host: LocalHost | null = null;
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
    await progress.step('worker agent on this machine', () => this.#startAgent());
    this.#assertWanted();
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
    await Promise.all(services.map((each) => this.#startApp(each)));
    await Promise.all(services.map((each) => this.#waitUntilReady(each)));
  }

  /** The first start of a home joins a new host; later ones find its identity on disk. */
  async #startAgent(): Promise<void> {
    const { ports } = this.#facts;
    const { workerAgent } = this.#apps;
    const host = await ensureHost(this.client, baseUrl(ports), join(this.#facts.config.home, 'agent'));
    this.#host = host;
    await this.#startApp(workerAgent);
    await this.#waitUntilReady(workerAgent);
    if (this.#facts.engine !== null) await this.#tellConfinement();
    await waitForHost(this.client, baseUrl(ports), host.hostId);
  }

  /** A person whose containers nothing confines must not learn it from a log file. */
  async #tellConfinement(): Promise<void> {
    if (await isConfined(operationsUrl(this.#apps.workerAgent))) return;
    this.#options.progress.line(
      'WARNING: containers are not confined here: they may reach this machine and its networks. ' +
        `Run your own code only. Why: ${join(this.#logs, 'worker-agent.log')}`,
    );
  }

  async #waitUntilReady(appProcess: AppProcess): Promise<void> {
    const { progress } = this.#options;
    await waitUntilReady(operationsUrl(appProcess), { say: (line) => progress.line(`${appProcess.name} ${line}`) });
    this.#supervisors.get(appProcess.name)?.markReady();
  }

  async #startApp(appProcess: AppProcess): Promise<void> {
    const { app, name } = appProcess;
    const logFile = join(this.#logs, `${name}.log`);
    await this.#supervise(name, logFile, async () => {
      const { repository, inherited } = this.#options;
      const token = this.#host?.token ?? null;
      const server = await spawnServer({
        name,
        executable: process.execPath,
        args: ['--enable-source-maps', join(repository, ENTRY[app])],
        folder: this.#facts.config.home,
        logFile,
        pidFile: pidFileOf(this.#facts.config.home, name),
        env: {
          ...appEnvironment(appProcess, this.#facts, inherited),
          ...(app === 'worker-agent' && token !== null && { BERTH_JOIN_TOKEN: token }),
        },
        stopSignal: 'SIGTERM',
      });
      return {
        pid: server.pid,
        exited: server.exited,
        stop: () => server.stop(app === 'worker-agent' ? AGENT_STOP_MS : APP_STOP_MS),
        whyRefused: async () => {
          const refusal = findRefusal(await server.lastWords(), app);
          return refusal === null || refusal.mayPass ? null : refusal.text;
        },
      };
    });
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
    await runCommand(process.execPath, [join(repository, 'apps/management-api/dist', entry)], {
      timeoutMs: MIGRATE_MS,
      env: { ...appEnvironment(this.#apps.managementApi, this.#facts, inherited) },
    });
  }

  /** Before everything is ready there is no `dev.json`; afterwards it follows each new pid. */
  #publish(): Promise<void> {
    return this.#devFile.write(() => this.#describe());
  }

  #describe(): DevFile | null {
    if (this.#readyAt === null || this.#host === null) return null;
    const pids = Object.fromEntries(this.#pids);
    return describeStack(this.#facts, { pids, hostId: this.#host.hostId, readyAt: this.#readyAt });
  }
}
