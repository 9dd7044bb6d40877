import { PORT_MAX } from '@berth/domain';
import { parseConfig, type ConfigReader, type Environment } from '@berth/lifecycle';
import { readLogSettings, type LogSettings } from '@berth/telemetry';
import { readCatalogPath } from '../catalog-file/index.js';
import { readPlaceholders, type PlaceholdersConfig } from '../placeholders/index.js';

/** Settings of the controllers process. */
export interface ControllersConfig extends LogSettings {
  readonly natsUrl: string;
  /** nkey seed of the role `controllers`; null: the address carries its credentials. */
  readonly natsSeed: string | null;
  readonly databaseUrl: string;
  /** An operator's catalog; null: the shipped one. */
  readonly catalogFile: string | null;
  /** Days that the job history keeps a job, from its submission. */
  readonly historyRetentionDays: number;
  /** Null: none are made. */
  readonly placeholders: PlaceholdersConfig | null;
  readonly operationsHost: string;
  readonly operationsPort: number;
}

const OPERATIONS_PORT_DEFAULT = 9_101;
/** At least more than a job can live, so that every end has its place; at most what a database holds locks for by default. */
const HISTORY_DAYS = { min: 8, max: 90, fallback: 30, unit: 'days' };

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadControllersConfig = (environment: Environment = process.env): ControllersConfig =>
  parseConfig(environment, readControllersConfig);

/** @public Also read by `npm run settings`. */
export const readControllersConfig = (read: ConfigReader): ControllersConfig => ({
  natsUrl: read.urls('BERTH_NATS_URL', 'The broker.', { protocols: ['nats:', 'tls:'] }),
  natsSeed: read.optional(
    'BERTH_NATS_SEED',
    'nkey seed of the role `controllers`; without it the address carries its credentials.',
  ),
  databaseUrl: read.url('BERTH_DATABASE_URL', 'The database.', { protocols: ['postgres:', 'postgresql:'] }),
  catalogFile: readCatalogPath(read),
  historyRetentionDays: read.integer(
    'BERTH_HISTORY_RETENTION_DAYS',
    'How long the job history keeps a job, from its submission.',
    HISTORY_DAYS,
  ),
  placeholders: readPlaceholders(read),
  operationsHost: read.string('BERTH_HTTP_HOST', 'Address that it listens at.', '127.0.0.1'),
  operationsPort: read.integer('BERTH_OPERATIONS_PORT', 'Port for health and metrics.', {
    min: 0,
    max: PORT_MAX,
    fallback: OPERATIONS_PORT_DEFAULT,
  }),
  ...readLogSettings(read),
});
