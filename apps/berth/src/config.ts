import type { ConfigReader, Environment } from '@berth/lifecycle';

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
