import { isIP } from 'node:net';
import { isEndpointDomain, PORT_MAX } from '@berth/domain';

/** How an installation is laid out: what an operator decides. */
export interface InstallationPlan {
  readonly brokers: 1 | 3;
  /** One for each broker: names and addresses with commas between. Our processes dial the first, agents the last. */
  readonly brokerHost: readonly string[];
  readonly brokerPort: number;
  readonly peerPort: number;
  readonly monitorPort: number;
  /** Null: the broker's machine alone. */
  readonly monitorHost: string | null;
  /** Folder of the streams, as the brokers see it. */
  readonly brokerStore: string;
  /** What each broker may keep on disk. */
  readonly storageGib: number;
  readonly databaseHost: string;
  readonly databasePort: number;
  /** A database of the operator's own; then the two above say nothing. */
  readonly databaseUrl: string | null;
  /** Address that our processes listen at; null: each at its own default, this machine alone. */
  readonly listen: string | null;
  readonly baseUrl: string;
  readonly runUrl: string;
  readonly lbDomain: string;
  /** The folder of the installation, as the processes see it. */
  readonly seenAt: string;
}

/** What was said on the command line. */
export type GivenPlan = { readonly [Name in keyof InstallationPlan]?: InstallationPlan[Name] | undefined };

const DEFAULTS: Omit<InstallationPlan, 'brokerHost' | 'seenAt'> = {
  brokers: 1,
  brokerPort: 4222,
  peerPort: 6222,
  monitorPort: 8222,
  monitorHost: null,
  brokerStore: '/var/lib/nats',
  storageGib: 20,
  databaseHost: 'postgres',
  databasePort: 5432,
  databaseUrl: null,
  listen: null,
  baseUrl: 'http://127.0.0.1:8000',
  runUrl: 'http://127.0.0.1:8001',
  lbDomain: 'localhost:8001',
};
/** As the router bounds its own share (`BERTH_NATS_STORAGE_BYTES`). */
const STORAGE_GIB_MAX = 6_144;

/** The plan with what was not said filled in. */
export function completePlan(given: GivenPlan, folder: string): InstallationPlan {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const plan = { ...DEFAULTS, seenAt: folder, ...said };
  const brokerHost = given.brokerHost ?? Array.from({ length: plan.brokers }, (_, at) => `broker-${String(at + 1)}`);
  return { ...plan, brokerHost };
}

/** Names of one broker, the one that our processes dial first. */
export const namesOf = (brokerHost: string): readonly string[] => brokerHost.split(',').map((name) => name.trim());

/** What makes a plan unusable, a sentence for each; none: it can be made. */
export const problemsOf = (plan: InstallationPlan): readonly string[] => [
  ...problemsOfBrokers(plan),
  ...problemsOfNumbers(plan),
  ...problemsOfAddresses(plan),
];

const NAME = /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*$/;
const isHost = (name: string): boolean => isIP(name) !== 0 || NAME.test(name);
/** A line of an environment file ends at its end, and nothing in it is quoted. */
const isPlain = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

function problemsOfBrokers({ brokerHost, brokers }: InstallationPlan): readonly string[] {
  const names = brokerHost.flatMap(namesOf);
  const wrong = names.filter((name) => !isHost(name));
  return [
    ...(brokerHost.length === brokers
      ? []
      : [`--broker-host is needed once for each of ${String(brokers)}, not ${String(brokerHost.length)} times`]),
    ...wrong.map((name) => `--broker-host: "${name}" is no name and no address`),
    ...(areBrokersApart(brokerHost) ? [] : ['--broker-host names a broker twice']),
  ];
}

/** By what our processes dial. Agents may know all of them by one name, with a port for each. */
function areBrokersApart(brokerHost: readonly string[]): boolean {
  const each = brokerHost.map(namesOf);
  const areDifferent = (names: readonly (string | undefined)[]): boolean => new Set(names).size === names.length;
  return areDifferent(each.map(([first]) => first)) && each.every(areDifferent);
}

function problemsOfNumbers(plan: InstallationPlan): readonly string[] {
  const ports = { brokerPort: '--broker-port', peerPort: '--peer-port', monitorPort: '--monitor-port' } as const;
  const all = { ...ports, databasePort: '--database-port' } as const;
  const isWithin = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max;
  return [
    ...(Object.keys(all) as (keyof typeof all)[])
      .filter((name) => !isWithin(plan[name], PORT_MAX))
      .map((name) => `${all[name]} must be a port, 1 to ${String(PORT_MAX)}`),
    ...(new Set([plan.brokerPort, plan.peerPort, plan.monitorPort]).size === 3
      ? []
      : ['--broker-port, --peer-port and --monitor-port must be three different ports']),
    ...(isWithin(plan.storageGib, STORAGE_GIB_MAX)
      ? []
      : [`--storage-gib must be a whole number from 1 to ${String(STORAGE_GIB_MAX)}`]),
  ];
}

/** Quotes are no way out: of those who read the files, some take them for a part of the value. */
const UNQUOTABLE =
  'has one of " \' ` $ \\ # ; | < > ( ), which env files and shells do not read as it is; an address has it as % and two digits in hex';

function problemsOfAddresses(plan: InstallationPlan): readonly string[] {
  const checks: readonly (readonly [string, boolean])[] = [
    ['--monitor-host must be an address or a name', plan.monitorHost === null || isHost(plan.monitorHost)],
    ['--database-host must be an address or a name', isHost(plan.databaseHost)],
    ['--database-url must be a URL that starts with postgres:// or postgresql://', isDatabase(plan.databaseUrl)],
    ['--listen must be an address or a name', plan.listen === null || isHost(plan.listen)],
    ['--base-url must be a URL that starts with http:// or https://', isUrl(plan.baseUrl, ['http:', 'https:'])],
    ['--run-url must be a URL that starts with http:// or https://', isUrl(plan.runUrl, ['http:', 'https:'])],
    ['--lb-domain must be a domain, with or without a port', isEndpointDomain(plan.lbDomain)],
    ['--seen-at must be an absolute path without spaces', plan.seenAt.startsWith('/') && isPlain(plan.seenAt)],
    [
      '--broker-store must be an absolute path without spaces',
      plan.brokerStore.startsWith('/') && isPlain(plan.brokerStore),
    ],
  ];
  const texts: readonly (readonly [string, string])[] = [
    ['--database-url', plan.databaseUrl ?? ''],
    ['--base-url', plan.baseUrl],
    ['--run-url', plan.runUrl],
    ['--seen-at', plan.seenAt],
    ['--broker-store', plan.brokerStore],
  ];
  return [
    ...checks.filter(([, isGood]) => !isGood).map(([problem]) => problem),
    ...texts.filter(([, text]) => /["'`$\\#;|<>()]/.test(text)).map(([option]) => `${option} ${UNQUOTABLE}`),
  ];
}

const isDatabase = (url: string | null): boolean => url === null || isUrl(url, ['postgres:', 'postgresql:']);

const isUrl = (text: string, protocols: readonly string[]): boolean =>
  isPlain(text) && URL.canParse(text) && protocols.includes(new URL(text).protocol);
