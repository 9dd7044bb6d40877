import type { Clock, Random } from '@berth/lifecycle';
import { inspectTopology, LOG_SHARDS, NatsShardClaims } from '@berth/messaging';
import type { DoctorConfig } from '../config.js';
import { connectionFailureOf, usingBroker, type BrokerAccess } from '../connections/index.js';
import { leftOut, wrong, type Finding } from './finding.js';
import { judgeBroker } from './judges/judge-broker.js';
import { judgeDatabase, judgeDatabaseFailure } from './judges/judge-database.js';
import { judgeFailure } from './judges/judge-failure.js';
import { judgeEndpoints, judgeHosts } from './judges/judge-fleet.js';
import {
  judgeOperations,
  judgeOperationsFailure,
  judgePublic,
  judgePublicFailure,
  type PublicTarget,
} from './judges/judge-processes.js';
import { judgeRouters, judgeStreams } from './judges/judge-streams.js';
import { probeBroker } from './probes/probe-broker.js';
import { probeDatabase } from './probes/probe-database.js';
import { KeyRefusedError, probeEndpoints, probeHosts, type FleetAccess } from './probes/probe-fleet.js';
import { probeOperations, probePublic } from './probes/probe-http.js';
import type { Check } from './run-checks.js';
import { SCHEMA_MIGRATIONS } from './schema-migrations.js';

export interface DoctorTools {
  readonly clock: Clock;
  readonly random: Random;
  /** Of this program. */
  readonly version: string;
}

/** Every look that the settings allow; for the others, what they miss. */
export const checksOf = (config: DoctorConfig, tools: DoctorTools): readonly Check[] => [
  ...databaseChecks(config, tools),
  ...brokerChecks(config, tools),
  ...processChecks(config, tools),
  ...fleetChecks(config, tools),
];

const leaving = (area: Finding['area'], setting: string): Check => ({
  area,
  what: setting,
  look: () => Promise.resolve([leftOut(area, setting)]),
});

/** What was found, or what is found of the error. */
async function orElse(
  find: () => Promise<readonly Finding[]>,
  judge: (error: unknown) => readonly Finding[],
): Promise<readonly Finding[]> {
  try {
    return await find();
  } catch (error) {
    return judge(error);
  }
}

function databaseChecks({ databaseUrl }: DoctorConfig, { clock }: DoctorTools): readonly Check[] {
  if (databaseUrl === null) return [leaving('database', 'BERTH_DATABASE_URL')];
  const look = async (): Promise<readonly Finding[]> =>
    judgeDatabase(await probeDatabase(databaseUrl, clock), SCHEMA_MIGRATIONS, clock.nowMs());
  const judge = (error: unknown): readonly Finding[] => judgeDatabaseFailure(connectionFailureOf(error));
  return [{ area: 'database', what: 'PostgreSQL', look: () => orElse(look, judge) }];
}

function brokerChecks(config: DoctorConfig, tools: DoctorTools): readonly Check[] {
  const { natsCredentials: credentials, natsUrls } = config;
  if (natsUrls.length === 0) return [leaving('brokers', 'BERTH_NATS_URL')];
  const all = { url: natsUrls.join(','), credentials };
  return [
    ...natsUrls.map((url): Check => {
      const look = async (): Promise<readonly Finding[]> =>
        judgeBroker(await probeBroker({ url, credentials }, tools), tools.clock.nowMs());
      return { area: 'brokers', what: url, look };
    }),
    {
      area: 'streams',
      what: 'the streams',
      look: () =>
        askingJetStream('streams', all, async () =>
          judgeStreams(await usingBroker(all, tools, inspectTopology), config),
        ),
    },
    {
      area: 'routers',
      what: 'the job routers',
      look: () =>
        askingJetStream('routers', all, async () =>
          judgeRouters(await usingBroker(all, tools, (broker) => new NatsShardClaims(broker).survey()), LOG_SHARDS),
        ),
    },
  ];
}

const askingJetStream = (
  area: 'streams' | 'routers',
  { url }: BrokerAccess,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> =>
  orElse(look, (error) => [
    judgeFailure({ area, what: `JetStream of ${url}`, setting: 'BERTH_NATS_URL' }, connectionFailureOf(error)),
  ]);

function processChecks(config: DoctorConfig, { clock, version }: DoctorTools): readonly Check[] {
  const { baseUrl, operationsUrls, runUrl } = config;
  const look = (target: PublicTarget): Promise<readonly Finding[]> =>
    orElse(
      async () => judgePublic(target, await probePublic(target.url, clock), clock.nowMs()),
      (error) => [judgePublicFailure(target, connectionFailureOf(error))],
    );
  const publicCheck = (target: Omit<PublicTarget, 'url'>, url: string | null): Check =>
    url === null
      ? leaving('processes', target.setting)
      : { area: 'processes', what: target.what, look: () => look({ ...target, url }) };
  return [
    publicCheck({ what: 'management API', setting: 'BERTH_BASE_URL' }, baseUrl),
    publicCheck({ what: 'job API', setting: 'BERTH_RUN_URL' }, runUrl),
    ...(operationsUrls.length === 0 ? [leaving('processes', 'BERTH_OPERATIONS_URLS')] : []),
    ...operationsUrls.map((url): Check => {
      const find = async (): Promise<readonly Finding[]> => judgeOperations(await probeOperations(url), version);
      const judge = (error: unknown): readonly Finding[] => [judgeOperationsFailure(url, connectionFailureOf(error))];
      return { area: 'processes', what: url, look: () => orElse(find, judge) };
    }),
  ];
}

function fleetChecks({ apiKey, baseUrl }: DoctorConfig, { version }: DoctorTools): readonly Check[] {
  const missing = baseUrl === null ? 'BERTH_BASE_URL' : 'BERTH_API_KEY';
  if (baseUrl === null || apiKey === null) return [leaving('hosts', missing), leaving('endpoints', missing)];
  const access: FleetAccess = { baseUrl, apiKey };
  return [
    {
      area: 'hosts',
      what: 'the hosts',
      look: () => askingApi('hosts', async () => judgeHosts(await probeHosts(access), version)),
    },
    {
      area: 'endpoints',
      what: 'the endpoints',
      look: () =>
        askingApi('endpoints', async () => {
          const { endpoints, total } = await probeEndpoints(access);
          return judgeEndpoints(endpoints, total);
        }),
    },
  ];
}

const askingApi = (area: 'hosts' | 'endpoints', look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> =>
  orElse(look, (error) => [
    error instanceof KeyRefusedError
      ? wrong(
          area,
          `the API key is refused: ${error.message}`,
          'BERTH_API_KEY must be a key in use, with the scope admin',
        )
      : judgeFailure({ area, what: 'management API', setting: 'BERTH_BASE_URL' }, connectionFailureOf(error)),
  ]);
