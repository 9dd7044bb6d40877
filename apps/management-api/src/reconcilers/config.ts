import { parseConfig, type Environment } from '@berth/lifecycle';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '@berth/telemetry';

/** Settings of the controllers process. */
export interface ControllersConfig {
  readonly natsUrl: string;
  /** nkey seed of the role `controllers`; null: the address carries its credentials. */
  readonly natsSeed: string | null;
  readonly databaseUrl: string;
  /** Days that the job history keeps a job, from its submission. */
  readonly historyRetentionDays: number;
  readonly operationsHost: string;
  readonly operationsPort: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

const PORT_MAX = 65_535;
const OPERATIONS_PORT_DEFAULT = 9_101;
/** At least more than a job can live, so that every end has its place; at most what a database holds locks for by default. */
const HISTORY_DAYS = { min: 8, max: 90, fallback: 30 };

/** @throws ConfigError naming every variable that is missing or wrong */
export const loadControllersConfig = (environment: Environment = process.env): ControllersConfig =>
  parseConfig(environment, (read) => ({
    natsUrl: read.urls('BERTH_NATS_URL', ['nats:', 'tls:']),
    natsSeed: read.optional('BERTH_NATS_SEED'),
    databaseUrl: read.url('BERTH_DATABASE_URL', ['postgres:', 'postgresql:']),
    historyRetentionDays: read.integer('BERTH_HISTORY_RETENTION_DAYS', HISTORY_DAYS),
    operationsHost: read.string('BERTH_HTTP_HOST', '127.0.0.1'),
    operationsPort: read.integer('BERTH_OPERATIONS_PORT', { min: 0, max: PORT_MAX, fallback: OPERATIONS_PORT_DEFAULT }),
    logLevel: read.oneOf('BERTH_LOG_LEVEL', LOG_LEVELS, 'info'),
    logFormat: read.oneOf('BERTH_LOG_FORMAT', LOG_FORMATS, 'auto'),
  }));
