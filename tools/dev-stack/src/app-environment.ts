import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { AgentProcess, AppName, AppProcess } from './app-processes.js';
import { HANDED_ON, type StackConfig } from './config.js';
import type { HostNetwork } from './host-networks/index.js';
import type { StackPorts } from './stack-ports.js';
import type { StackSecrets } from './stack-secrets.js';

/** All that the environments of the apps are made from. */
export interface StackFacts {
  readonly config: StackConfig;
  readonly ports: StackPorts;
  readonly secrets: StackSecrets;
  readonly natsUrl: string;
  readonly databaseUrl: string;
  readonly runtime: 'docker' | 'process';
  /** Address of the container engine, as `DOCKER_HOST` has it; null without containers. */
  readonly engine: string | null;
  /** What the broker's files may take, jobs and snapshots together. */
  readonly storageBytes: number;
}

export type AppEnvironment = Readonly<Record<string, string>>;

const LOOPBACK = '127.0.0.1';
const EVERY_ADDRESS = '0.0.0.0';

export const localUrl = (port: number): string => `http://127.0.0.1:${port}`;
export const baseUrl = (ports: StackPorts): string => localUrl(ports.managementApi);
/** Of all routers the first is the one that callers are told of. */
export const runUrl = (ports: StackPorts): string => localUrl(ports.routers[0].http);
export const loadBalancerDomain = (ports: StackPorts): string => `localhost:${ports.routers[0].http}`;

/** The environment of one process: the settings of its app, its own ports, and nothing of the others' secrets. */
export function appEnvironment(appProcess: AppProcess, facts: StackFacts, inherited: AppEnvironment): AppEnvironment {
  const { app, httpPort, operationsPort } = appProcess;
  const shared = {
    ...inherited,
    BERTH_NATS_URL: facts.natsUrl,
    BERTH_LOG_LEVEL: facts.config.logLevel,
    BERTH_LOG_FORMAT: 'json',
    ...(app !== 'controllers' && traces(facts)),
    BERTH_OPERATIONS_PORT: String(operationsPort),
    ...(httpPort !== null && { BERTH_HTTP_PORT: String(httpPort) }),
  };
  return { ...shared, ...OWN_SETTINGS[app](facts), ...handedOn(app, facts.config) };
}

/** The environment of the agent of one host. Workers leave with it: `npm start` leaves nothing running. */
export function agentEnvironment(agent: AgentProcess, { facts, home, inherited, network }: AgentPlace): AppEnvironment {
  const broker = network === undefined ? {} : { BERTH_NATS_URL: throughRelay(facts.natsUrl, network) };
  const operations = network === undefined ? {} : { BERTH_HTTP_HOST: network.hostAddress };
  return {
    ...appEnvironment(agent, facts, inherited),
    ...broker,
    ...operations,
    BERTH_TUNNEL_VIA: network?.machineAddress ?? LOOPBACK,
    BERTH_HOME: home,
    BERTH_BRIDGE_PORT: String(agent.bridgePort),
    BERTH_KEEP_WORKERS: 'false',
  };
}

/** Where an agent runs. */
export interface AgentPlace {
  readonly facts: StackFacts;
  readonly home: string;
  readonly inherited: AppEnvironment;
  /** Absent in this machine's own. */
  readonly network: HostNetwork | undefined;
}

function throughRelay(natsUrl: string, { machineAddress }: HostNetwork): string {
  const url = new URL(natsUrl);
  url.hostname = machineAddress;
  return url.href;
}

const handedOn = (app: AppName, config: StackConfig): AppEnvironment =>
  Object.fromEntries(
    Object.entries(HANDED_ON).flatMap(([variable, { app: reader, fallback }]) => {
      const value = config.handedOn[variable] ?? fallback;
      return reader === app && value !== undefined ? [[variable, value]] : [];
    }),
  );

const OWN_SETTINGS: Readonly<Record<AppName, (facts: StackFacts) => AppEnvironment>> = {
  'management-api': (facts) => ({
    ...natsSeed(facts, 'management'),
    ...(facts.config.natsUrl === null && {
      BERTH_AUTH_SEED: facts.secrets.nats.roles.callout,
      BERTH_AUTH_ISSUER_SEED: facts.secrets.nats.issuer,
      BERTH_AGENTS_SEED: facts.secrets.nats.roles.sessions,
      BERTH_SYSTEM_SEED: facts.secrets.nats.roles.system,
    }),
    BERTH_TRUSTED_BROKER: facts.config.trustedBroker,
    BERTH_DATABASE_URL: facts.databaseUrl,
    ...catalogFile(facts),
    BERTH_SECRET_KEY: facts.secrets.secretKey,
    BERTH_BASE_URL: baseUrl(facts.ports),
    BERTH_RUN_URL: runUrl(facts.ports),
    BERTH_LB_DOMAIN: loadBalancerDomain(facts.ports),
    BERTH_NATS_STORAGE_BYTES: String(facts.storageBytes),
    BERTH_SEED_API_KEY: facts.secrets.apiKey,
    BERTH_DRAIN_DELAY_MS: '0',
  }),
  controllers: (facts) => ({
    ...natsSeed(facts, 'controllers'),
    BERTH_DATABASE_URL: facts.databaseUrl,
    ...catalogFile(facts),
  }),
  'job-router': (facts) => ({
    BERTH_LB_DOMAIN: loadBalancerDomain(facts.ports),
    ...natsSeed(facts, 'router'),
    ...(facts.config.natsUrl === null && { BERTH_AGENTS_SEED: facts.secrets.nats.roles.gateway }),
    BERTH_TRUSTED_BROKER: facts.config.trustedBroker,
    BERTH_SECRET_KEY: facts.secrets.secretKey,
    BERTH_NATS_STORAGE_BYTES: String(facts.storageBytes),
    BERTH_BASE_URL: baseUrl(facts.ports),
    BERTH_DOCS_URL: `${baseUrl(facts.ports)}/docs`,
    BERTH_RATE_LIMITS: facts.config.rateLimits,
    // Hosts in networks of their own do not reach this machine's loopback.
    BERTH_TUNNEL_HOST: facts.config.hosts > 1 ? EVERY_ADDRESS : LOOPBACK,
  }),
  'worker-agent': (facts) => ({
    BERTH_RUNTIME: facts.runtime,
    BERTH_IMAGES: facts.config.images,
    // One for all hosts: what a worker keeps on one of them, the next finds on another.
    BERTH_VOLUMES: volumesFolder(facts.config.home),
    ...(facts.engine !== null && { BERTH_DOCKER_SOCKET: facts.engine }),
    BERTH_CONFINEMENT: facts.config.confinement,
    BERTH_VCPUS: String(facts.config.vcpus ?? defaultVcpus()),
    ...(facts.config.simulatedGpus !== null && { BERTH_SIMULATED_GPUS: facts.config.simulatedGpus }),
  }),
};

const traces = ({ config: { tracing: wanted } }: StackFacts): AppEnvironment =>
  wanted.otlpEndpoint === null
    ? {}
    : { BERTH_OTLP_ENDPOINT: wanted.otlpEndpoint, BERTH_TRACED_PERMILLE: String(wanted.tracedPermille) };

const catalogFile = ({ config }: StackFacts): AppEnvironment =>
  config.catalogFile === null ? {} : { BERTH_CATALOG_FILE: config.catalogFile };

/** Where network volumes lie. */
export const volumesFolder = (home: string): string => join(home, 'volumes');

/** An outside broker's address carries its own credentials. */
const natsSeed = (facts: StackFacts, role: 'management' | 'controllers' | 'router'): AppEnvironment =>
  facts.config.natsUrl === null ? { BERTH_NATS_SEED: facts.secrets.nats.roles[role] } : {};

const VCPUS_PER_CORE = 8;
const VCPUS_LEAST = 64;

/** A laptop must be able to try several endpoints (the launcher's contract, `BERTH_VCPUS`). */
const defaultVcpus = (): number => Math.max(VCPUS_LEAST, VCPUS_PER_CORE * availableParallelism());
