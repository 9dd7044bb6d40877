import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@berth/lifecycle';
import { findRefusal } from '@berth/telemetry';
import { publicNatsKeys, runCommand, spawnServer, startNatsServer, startPostgres, stopLeftover } from '@berth/servers';
import {
  appEnvironment,
  baseUrl,
  loadBalancerDomain,
  runUrl,
  type AppEnvironment,
  type AppName,
  type StackFacts,
} from './app-environment.js';
import { writeDevFile, type DevFile, type ProcessName } from './dev-file.js';
import { ensureHost } from './ensure-host.js';
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
/** Agents first, while there is a router to give their jobs back to; servers last. The sum stays below 30 s. */
const STOP_ORDER: readonly ProcessName[] = [
  'worker-agent',
  'job-router',
  'controllers',
  'management-api',
  'nats-server',
  'postgres',
];
const AGENT_STOP_MS = 15_000;
const APP_STOP_MS = 4_000;

/** All processes of one installation, started in order, kept running, stopped in order. */
export class Stack {
  readonly #options: StackOptions;
  readonly #logs: string;
  readonly #supervisors = new Map<ProcessName, Supervisor>();
  readonly #pids = new Map<ProcessName, number>([['launcher', process.pid]]);
  #facts: StackFacts;
  #readyAt: string | null = null;
  #hostToken: string | null = null;
  #isStopping = false;

  constructor(options: StackOptions) {
    const { config } = options.facts;
    this.#options = options;
    this.#logs = join(config.home, 'logs');
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
    await this.#endLeftovers();
    await Promise.all([
      progress.step('broker (nats-server)', () => this.#startBroker()),
      progress.step('database (PostgreSQL)', () => this.#startDatabase()),
    ]);
    await progress.step('database migrations and account', () => this.#runOnce('migrate.main.js'));
    await progress.step('management API, controllers, router', () => this.#startServices());
    await progress.step('worker agent on this machine', () => this.#startAgent());
    this.#assertWanted();
    this.#readyAt = new Date(systemClock.nowMs()).toISOString();
    await this.#publish();
    progress.line(`ready after ${(progress.elapsedMs / 1000).toFixed(1)} s: ${baseUrl(ports)} and ${runUrl(ports)}`);
  }

  /** Ends everything in order. Safe to call while starting and twice. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#readyAt = null;
    for (const name of STOP_ORDER) await this.#supervisors.get(name)?.stop();
  }

  async #endLeftovers(): Promise<void> {
    const apps: readonly AppName[] = ['worker-agent', 'job-router', 'controllers', 'management-api'];
    await Promise.all(apps.map((app) => stopLeftover(this.#pidFile(app))));
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
    const apps: readonly AppName[] = ['management-api', 'job-router', 'controllers'];
    await Promise.all(apps.map((app) => this.#startApp(app)));
    await Promise.all(apps.map((app) => this.#waitUntilReady(app)));
  }

  /** The first start of a home joins a new host; later ones find its identity on disk. */
  async #startAgent(): Promise<void> {
    const { ports } = this.#facts;
    const host = await ensureHost(this.client, baseUrl(ports), join(this.#facts.config.home, 'agent'));
    this.#hostToken = host.token;
    await this.#startApp('worker-agent');
    await this.#waitUntilReady('worker-agent');
    if (this.#facts.engine !== null) await this.#tellConfinement();
    await waitForHost(this.client, baseUrl(ports), host.hostId);
  }

  /** Whoever starts containers that nothing confines must not learn it from a log file. */
  async #tellConfinement(): Promise<void> {
    if (await isConfined(this.#operationsUrl('worker-agent'))) return;
    this.#options.progress.line(
      'WARNING: containers are not confined here: they may reach this machine and its networks. ' +
        `Run your own code only. Why: ${join(this.#logs, 'worker-agent.log')}`,
    );
  }

  async #waitUntilReady(app: AppName): Promise<void> {
    const { progress } = this.#options;
    await waitUntilReady(this.#operationsUrl(app), { say: (line) => progress.line(`${app} ${line}`) });
    this.#supervisors.get(app)?.markReady();
  }

  async #startApp(app: AppName): Promise<void> {
    const logFile = join(this.#logs, `${app}.log`);
    await this.#supervise(app, logFile, async () => {
      const { repository, inherited } = this.#options;
      const token = app === 'worker-agent' && this.#hostToken !== null ? { BERTH_JOIN_TOKEN: this.#hostToken } : {};
      const server = await spawnServer({
        name: app,
        executable: process.execPath,
        args: ['--enable-source-maps', join(repository, ENTRY[app])],
        folder: this.#facts.config.home,
        logFile,
        pidFile: this.#pidFile(app),
        env: { ...appEnvironment(app, this.#facts, inherited), ...token },
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
      env: { ...appEnvironment('management-api', this.#facts, inherited) },
    });
  }

  /** Before everything is ready there is no `dev.json`; afterwards it follows each new pid. */
  async #publish(): Promise<void> {
    if (this.#readyAt === null) return;
    await writeDevFile(this.#facts.config.home, this.#describe(this.#readyAt));
  }

  #describe(readyAt: string): DevFile {
    const { config, databaseUrl, natsUrl, ports, runtime, secrets } = this.#facts;
    const apps: readonly AppName[] = ['management-api', 'controllers', 'job-router', 'worker-agent'];
    return {
      baseUrl: baseUrl(ports),
      runUrl: runUrl(ports),
      loadBalancerDomain: loadBalancerDomain(ports),
      apiKey: secrets.apiKey,
      runtime,
      databaseUrl,
      natsUrl: config.natsUrl ?? natsUrl,
      readyAt,
      processes: Object.fromEntries(this.#pids),
      operations: Object.fromEntries(apps.map((app) => [app, this.#operationsUrl(app)])),
    };
  }

  #operationsUrl(app: AppName): string {
    return `http://127.0.0.1:${this.#facts.ports.operations[app]}`;
  }

  #pidFile(app: AppName): string {
    return join(this.#facts.config.home, `${app}.pid`);
  }
}
