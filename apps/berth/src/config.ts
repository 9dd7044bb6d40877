import { GIB } from '@berth/domain';
import type { ConfigReader, Environment } from '@berth/lifecycle';
import type { NatsCredentials } from '@berth/messaging';
import { readSecretBox, type SecretBox } from '@berth/secrets';

/** What the command was started with; each command reads its own settings from it. */
export const loadEnvironment = (): Environment => process.env;

/** What `berth host` is told. */
export interface HostsConfig {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Where agents reach the brokers; null: it is not known here. */
  readonly agentNatsUrl: string | null;
}

/** Reads the settings of `berth host`; `parseConfig` names every one that is missing or wrong. */
export const readHostsConfig = (read: ConfigReader): HostsConfig => ({
  baseUrl: read.url('BERTH_BASE_URL', 'Where the management API is.', { protocols: ['http:', 'https:'] }),
  apiKey: read.string('BERTH_API_KEY', 'An API key with the scope `admin`.'),
  agentNatsUrl: read.optional(
    'BERTH_AGENT_NATS_URL',
    'Where agents reach the brokers, as `join` tells it to the new machine.',
  ),
});

/** What `berth doctor` is told. What is null, or empty, is not looked at. */
export interface DoctorConfig {
  readonly databaseUrl: string | null;
  /** One for each broker. */
  readonly natsUrls: readonly string[];
  readonly natsCredentials: NatsCredentials;
  /** How many brokers hold each stream. */
  readonly replicas: number;
  readonly storageBytes: number;
  readonly baseUrl: string | null;
  readonly runUrl: string | null;
  readonly operationsUrls: readonly string[];
  readonly apiKey: string | null;
}

/** What `berth log` is told. */
export interface LogConfig {
  readonly natsUrl: string;
  readonly natsCredentials: NatsCredentials;
  /** Of the role `router`, to remove an entry with; null: it is removed as whoever reads, where the broker has no roles. */
  readonly routerSeed: string | null;
}

/** Reads the settings of `berth log`; `parseConfig` names every one that is missing or wrong. */
export const readLogConfig = (read: ConfigReader): LogConfig => ({
  natsUrl: read.urls('BERTH_NATS_URL', 'Every broker.', { protocols: NATS }),
  natsCredentials: credentialsOf(
    read.optional('BERTH_NATS_SEED', 'nkey seed of the role `operator`, where the broker knows our roles.'),
    read.optional('BERTH_NATS_USER', "User at somebody else's broker; with a seed it is not looked at."),
    read.optional('BERTH_NATS_PASSWORD', 'Password of this user.'),
  ),
  routerSeed: read.optional(
    'BERTH_ROUTER_SEED',
    'nkey seed of the role `router`, that is `BERTH_NATS_SEED` of `env/job-router.env`: for `--skip` with `--confirm` alone.',
  ),
});

const NATS = ['nats:', 'tls:'];
const POSTGRES = ['postgres:', 'postgresql:'];
const HTTP = ['http:', 'https:'];
const STORAGE_BOUNDS = { min: GIB, max: 6_144 * GIB, fallback: 16 * GIB, unit: 'bytes' };

/** Reads the settings of `berth doctor`: nothing has to be set, so that it can be run where something is missing. */
export const readDoctorConfig = (read: ConfigReader): DoctorConfig => ({
  databaseUrl: read.optionalUrl('BERTH_DATABASE_URL', 'The database.', POSTGRES),
  natsUrls: listed(read.urls('BERTH_NATS_URL', 'Every broker.', { protocols: NATS, fallback: '' })),
  natsCredentials: credentialsOf(read.optional('BERTH_NATS_SEED', 'nkey seed of the role `operator`.')),
  replicas: Number(
    read.oneOf('BERTH_NATS_REPLICAS', 'Servers that hold each stream.', { choices: ['1', '3'], fallback: '1' }),
  ),
  storageBytes: read.integer('BERTH_NATS_STORAGE_BYTES', 'What the streams may take on disk.', STORAGE_BOUNDS),
  baseUrl: read.optionalUrl('BERTH_BASE_URL', 'Where the management API is.', HTTP),
  runUrl: read.optionalUrl('BERTH_RUN_URL', 'Where the job routers are, for clients.', HTTP),
  operationsUrls: listed(
    read.urls('BERTH_OPERATIONS_URLS', 'Where each process shows its health and metrics.', {
      protocols: HTTP,
      fallback: '',
    }),
  ),
  apiKey: read.optional('BERTH_API_KEY', 'An API key with the scope `admin`: for hosts and endpoints.'),
});

const listed = (urls: string): readonly string[] =>
  urls
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');

/** What `berth backup` is told. */
export interface BackupConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly natsSeed: string;
  /** Says which keys the secrets in the backup were sealed with; the backup holds none of them. */
  readonly secretBox: SecretBox;
}

/** What `berth restore` is told. */
export interface RestoreConfig extends BackupConfig {
  readonly replicas: 1 | 3;
  readonly storageBytes: number;
}

export const readBackupConfig = (read: ConfigReader): BackupConfig => readStores(read, 'backup');

export const readRestoreConfig = (read: ConfigReader): RestoreConfig => ({
  ...readStores(read, 'restore'),
  replicas:
    read.oneOf('BERTH_NATS_REPLICAS', 'As the job routers have it.', { choices: ['1', '3'], fallback: '1' }) === '3'
      ? 3
      : 1,
  storageBytes: read.integer('BERTH_NATS_STORAGE_BYTES', 'As the job routers have it.', STORAGE_BOUNDS),
});

const readStores = (read: ConfigReader, role: 'backup' | 'restore'): BackupConfig => ({
  databaseUrl: read.url('BERTH_DATABASE_URL', 'The database.', { protocols: POSTGRES }),
  natsUrl: read.urls('BERTH_NATS_URL', 'The broker.', { protocols: NATS }),
  natsSeed: read.string('BERTH_NATS_SEED', `nkey seed of the role \`${role}\`.`),
  secretBox: readSecretBox(read),
});

/** A seed where the broker knows our roles; user and password, or the address alone, where it is somebody else's. */
function credentialsOf(seed: string | null, user: string | null = null, pass: string | null = null): NatsCredentials {
  if (seed !== null) return { kind: 'nkey', seed };
  return user === null ? { kind: 'none' } : { kind: 'password', user, pass: pass ?? '' };
}
