import { renderNatsConf, type NatsConf, type NatsPeers, type NatsTls } from '@berth/broker-access';
import { GIB } from '@berth/domain';
import type { FirstKey, InstallationRecord } from './installation.js';
import { namesOf, type InstallationPlan } from './installation-plan.js';
import {
  brokerKeysOf,
  databaseLoginOf,
  issuersOf,
  restoreKeysOf,
  rolesOf,
  secretKeysOf,
} from './rotation/secrets-in-use.js';

/** A file of an installation, as data: an adapter writes it to a disk, or somewhere else. */
export interface InstallationFile {
  /** Below the folder of the installation, with `/` between. */
  readonly path: string;
  readonly text: string;
  /** Whether it holds a secret, so that nobody but its owner may read it. */
  readonly isSecret: boolean;
}

/** A certificate that a server of the installation shows. */
export interface ServerCertificate {
  /** Of its file, with the certificate and its key. */
  readonly path: string;
  /** That it answers at. */
  readonly names: readonly string[];
}

/** Everybody that runs on the machine of a server may reach it by these, too. */
const LOOPBACK = '127.0.0.1';
const OWN_NAMES = ['localhost', LOOPBACK];
const AUTHORITY_PATH = 'tls/ca.crt';
const MEMORY_STORE_BYTES = GIB;
const DATABASE = 'berth';
/** Where the management API, the controllers and a job router show their health unless they are told otherwise. */
const OPERATIONS_URLS = [9_100, 9_101, 9_102].map((port) => `http://${LOOPBACK}:${String(port)}`).join(',');

export const MIGRATE_PATH = 'env/migrate.env';

/** All that can be made of an installation again and again: everything but the certificates of its servers. */
export const renderFiles = (installation: InstallationRecord): readonly InstallationFile[] => [
  { path: AUTHORITY_PATH, text: installation.authority.certificate, isSecret: false },
  ...installation.plan.brokerHost.map((_, at) => brokerFile(installation, at)),
  ...Object.entries(environments(installation)).map(([name, variables]) => environmentFile(name, variables)),
];

/** Which certificates the servers need. */
export const serverCertificates = (plan: InstallationPlan): readonly ServerCertificate[] => [
  ...plan.brokerHost.map((host, at) => ({ path: `tls/${brokerName(at)}.pem`, names: withOwn(namesOf(host)) })),
  ...(plan.databaseUrl === null ? [{ path: 'tls/postgres.pem', names: withOwn([plan.databaseHost]) }] : []),
];

const withOwn = (names: readonly string[]): readonly string[] => [...new Set([...names, ...OWN_NAMES])];

const brokerName = (at: number): string => `broker-${String(at + 1)}`;
const seen = ({ seenAt }: InstallationPlan, path: string): string => `${seenAt.replace(/\/$/, '')}/${path}`;

// --- The brokers --------------------------------------------------------------------------------------------------

function brokerFile(installation: InstallationRecord, at: number): InstallationFile {
  const { plan } = installation;
  const [host = ''] = namesOf(plan.brokerHost[at] ?? '');
  const tls: NatsTls = {
    certFile: seen(plan, `tls/${brokerName(at)}.pem`),
    keyFile: seen(plan, `tls/${brokerName(at)}.pem`),
    caFile: seen(plan, AUTHORITY_PATH),
  };
  const conf: NatsConf = {
    storeFolder: plan.brokerStore,
    listener: { host: listenerOf(host), port: plan.brokerPort },
    monitor: { host: plan.monitorHost ?? (isLoopback(host) ? host : LOOPBACK), port: plan.monitorPort },
    portsFolder: null,
    tls,
    fileStoreMaxBytes: plan.storageGib * GIB,
    memoryStoreMaxBytes: MEMORY_STORE_BYTES,
    auth: { kind: 'roles', keys: brokerKeysOf(installation) },
    ...(plan.brokers === 3 && { peers: peersOf(plan, at, tls) }),
  };
  return { path: `broker/${brokerName(at)}.conf`, text: renderNatsConf(conf), isSecret: false };
}

const peersOf = (plan: InstallationPlan, at: number, tls: NatsTls): NatsPeers => ({
  name: brokerName(at),
  listener: { host: listenerOf(firstName(plan, at)), port: plan.peerPort },
  address: peerAddress(plan, at),
  addresses: plan.brokerHost.map((_, peer) => peerAddress(plan, peer)),
  tls,
});

const peerAddress = (plan: InstallationPlan, at: number): string =>
  `${urlHost(firstName(plan, at))}:${String(plan.peerPort)}`;

const firstName = (plan: InstallationPlan, at: number): string => namesOf(plan.brokerHost[at] ?? '')[0] ?? '';

/** A broker that is known by an address of its machine alone listens at it alone. */
const listenerOf = (host: string): string => (isLoopback(host) ? host : '0.0.0.0');

const isLoopback = (host: string): boolean => /^127\.|^::1$/.test(host);

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

// --- The processes ------------------------------------------------------------------------------------------------

type Variables = Readonly<Record<string, string>>;

/** Agents are told the last name of each broker. */
const agentsBroker = (plan: InstallationPlan): string => brokerUrl(plan, (names) => names.at(-1));

function environments(installation: InstallationRecord): Readonly<Record<string, Variables>> {
  const { plan } = installation;
  const roles = rolesOf(installation);
  return {
    ...(plan.databaseUrl === null && { postgres: postgresVariables(installation) }),
    migrate: { ...trust(plan), ...database(installation), BERTH_SEED_API_KEY_HASH: seedOf(installation.firstKey) },
    'management-api': {
      ...broker(plan),
      ...database(installation),
      ...listen(plan),
      ...streams(plan),
      BERTH_NATS_SEED: roles.management,
      BERTH_AGENTS_SEED: roles.sessions,
      BERTH_SYSTEM_SEED: roles.system,
      BERTH_AUTH_SEED: roles.callout,
      BERTH_AUTH_ISSUER_SEED: issuersOf(installation),
      BERTH_SECRET_KEY: secretKeysOf(installation),
      BERTH_BASE_URL: plan.baseUrl,
      BERTH_RUN_URL: plan.runUrl,
      BERTH_LB_DOMAIN: plan.lbDomain,
    },
    controllers: {
      ...broker(plan),
      ...database(installation),
      ...listen(plan),
      BERTH_NATS_SEED: roles.controllers,
    },
    'job-router': {
      ...broker(plan),
      ...listen(plan),
      ...streams(plan),
      ...(plan.listen !== null && { BERTH_TUNNEL_HOST: plan.listen }),
      BERTH_NATS_SEED: roles.router,
      BERTH_AGENTS_SEED: roles.gateway,
      BERTH_SECRET_KEY: secretKeysOf(installation),
      BERTH_BASE_URL: plan.baseUrl,
      BERTH_DOCS_URL: `${plan.baseUrl.replace(/\/$/, '')}/docs`,
      BERTH_LB_DOMAIN: plan.lbDomain,
    },
    'worker-agent': { ...trust(plan), BERTH_NATS_URL: agentsBroker(plan) },
    backup: stores(installation, roles.backup),
    restore: {
      ...stores(installation, roles.restore),
      ...streams(plan),
      BERTH_SECRET_KEY: restoreKeysOf(installation),
    },
    operator: operatorVariables(installation),
  };
}

const operatorVariables = (installation: InstallationRecord): Variables => {
  const { plan } = installation;
  return {
    ...broker(plan),
    ...database(installation),
    ...streams(plan),
    BERTH_NATS_SEED: rolesOf(installation).operator,
    BERTH_BASE_URL: plan.baseUrl,
    BERTH_RUN_URL: plan.runUrl,
    BERTH_AGENT_NATS_URL: agentsBroker(plan),
    // Where they listen on this machine alone they are on it.
    ...(plan.listen === null && { BERTH_OPERATIONS_URLS: OPERATIONS_URLS }),
  };
};

/** Where all state is, for who copies it and who puts it back. */
const stores = (installation: InstallationRecord, natsSeed: string): Variables => ({
  ...broker(installation.plan),
  ...database(installation),
  BERTH_NATS_SEED: natsSeed,
  BERTH_SECRET_KEY: secretKeysOf(installation),
});

/** The names that PostgreSQL's published images read. */
const postgresVariables = (installation: InstallationRecord): Variables => {
  const { password, user } = databaseLoginOf(installation);
  return { POSTGRES_USER: user, POSTGRES_DB: DATABASE, POSTGRES_PASSWORD: password };
};

const trust = (plan: InstallationPlan): Variables => ({ NODE_EXTRA_CA_CERTS: seen(plan, AUTHORITY_PATH) });

const broker = (plan: InstallationPlan): Variables => ({
  ...trust(plan),
  BERTH_NATS_URL: brokerUrl(plan, ([first]) => first),
});

const brokerUrl = (plan: InstallationPlan, pick: (names: readonly string[]) => string | undefined): string =>
  plan.brokerHost.map((host) => `tls://${urlHost(pick(namesOf(host)) ?? '')}:${String(plan.brokerPort)}`).join(',');

const streams = (plan: InstallationPlan): Variables => ({
  BERTH_NATS_REPLICAS: String(plan.brokers),
  BERTH_NATS_STORAGE_BYTES: String(plan.storageGib * GIB),
});

const database = (installation: InstallationRecord): Variables => {
  const { plan } = installation;
  const { password, user } = databaseLoginOf(installation);
  const own = `${urlHost(plan.databaseHost)}:${String(plan.databasePort)}/${DATABASE}?sslmode=verify-full`;
  return { BERTH_DATABASE_URL: plan.databaseUrl ?? `postgres://${user}:${password}@${own}` };
};

const listen = ({ listen: address }: InstallationPlan): Variables =>
  address === null ? {} : { BERTH_HTTP_HOST: address };

export const seedOf = ({ hash, prefix }: FirstKey): string => `bk_${prefix}:${hash}`;

const environmentFile = (name: string, variables: Variables): InstallationFile => ({
  path: `env/${name}.env`,
  text: Object.entries(variables)
    .map(([variable, value]) => `${variable}=${value}\n`)
    .join(''),
  isSecret: true,
});
