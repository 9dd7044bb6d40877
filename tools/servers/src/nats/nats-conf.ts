import { NATS_ROLES, type NatsPublicKeys, type NatsRole } from './nats-keys.js';
import { rolePermissions, SHARD_COUNTS_DEFAULT, type RolePermissions, type ShardCounts } from './role-permissions.js';

/**
 * `none`: each client may do everything; for tests that are not about access. `password`: one user for all, who may
 * do everything; a client without credentials is let in as it where there are guests.
 */
export type NatsAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'password'; readonly user: string; readonly pass: string; readonly hasGuests: boolean }
  | {
      readonly kind: 'roles';
      readonly keys: NatsPublicKeys;
      readonly shards?: ShardCounts;
    };

/** One of several servers that hold the streams together. */
export interface NatsClusterMember {
  /** Another one for each server of the cluster. */
  readonly name: string;
  /** Where the others reach it. */
  readonly port: number;
  /** Ports of all of them, loopback only. */
  readonly peerPorts: readonly number[];
}

export interface NatsConf {
  readonly storeFolder: string;
  /** -1: the server picks a free port itself and says which in its ports file. */
  readonly port: number;
  readonly httpPort: number;
  /** Where the ports file is written. */
  readonly portsFolder: string;
  /** Upper limit of the sum of what the file streams reserve (`max_bytes`). */
  readonly fileStoreMaxBytes: number;
  readonly memoryStoreMaxBytes: number;
  readonly auth: NatsAuth;
  /** Default: it stands alone. */
  readonly cluster?: NatsClusterMember;
}

/** Account of the platform; user JWTs of agents name it as their audience. */
export const NATS_APP_ACCOUNT = 'APP';

const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const CONSUMERS_PER_STREAM_DEFAULT = 2_000;
const HA_ASSETS_MAX = 1_000;
const AUTH_TIMEOUT_S = 5;

/** Text of a server's configuration file. Both listeners are on loopback. */
export const renderNatsConf = (conf: NatsConf): string =>
  [
    `listen: ${quote(`127.0.0.1:${String(conf.port)}`)}`,
    `http: ${quote(`127.0.0.1:${String(conf.httpPort)}`)}`,
    `ports_file_dir: ${quote(conf.portsFolder)}`,
    `max_payload: ${String(MAX_PAYLOAD_BYTES)}`,
    `max_pending: ${String(MAX_PENDING_BYTES)}`,
    'lame_duck_duration: "30s"',
    'jetstream {',
    `  store_dir: ${quote(conf.storeFolder)}`,
    // Without this an acknowledged write may be gone after a power cut.
    '  sync_interval: always',
    `  max_file_store: ${String(conf.fileStoreMaxBytes)}`,
    `  max_memory_store: ${String(conf.memoryStoreMaxBytes)}`,
    `  limits { default_max_consumers: ${String(CONSUMERS_PER_STREAM_DEFAULT)}, max_ha_assets: ${String(HA_ASSETS_MAX)} }`,
    '}',
    ...(conf.cluster === undefined ? [] : renderCluster(conf.cluster)),
    ...renderAuth(conf.auth),
    '',
  ].join('\n');

const renderCluster = ({ name, peerPorts, port }: NatsClusterMember): string[] => [
  `server_name: ${quote(name)}`,
  'cluster {',
  '  name: berth',
  `  listen: ${quote(`127.0.0.1:${String(port)}`)}`,
  `  routes: ${list(peerPorts.map((peer) => `nats-route://127.0.0.1:${String(peer)}`))}`,
  '}',
];

const renderAuth = (auth: NatsAuth): string[] => {
  if (auth.kind === 'none') return [];
  if (auth.kind === 'password') return renderPassword(auth);
  const permissions = rolePermissions(auth.shards ?? SHARD_COUNTS_DEFAULT);
  const user = (role: NatsRole): string => renderUser(auth.keys.roles[role], permissions[role]);
  return [
    'system_account: SYS',
    'accounts {',
    `  ${NATS_APP_ACCOUNT} { jetstream: enabled, users: [`,
    ...(['management', 'sessions', 'controllers', 'router', 'gateway'] as const).map(user),
    '  ] }',
    `  AUTH { users: [\n${user('callout')}\n  ] }`,
    `  SYS { users: [\n${user('system')}\n  ] }`,
    '}',
    'authorization {',
    `  timeout: ${String(AUTH_TIMEOUT_S)}`,
    // Everybody but the roles goes to the callout, whatever name they claim.
    '  auth_callout {',
    `    issuer: ${auth.keys.issuer}`,
    '    account: AUTH',
    `    auth_users: [ ${NATS_ROLES.map((role) => auth.keys.roles[role]).join(', ')} ]`,
    '  }',
    '}',
  ];
};

const renderPassword = ({ hasGuests, pass, user }: Extract<NatsAuth, { readonly kind: 'password' }>): string[] => [
  'accounts {',
  `  ${NATS_APP_ACCOUNT} { jetstream: enabled, users: [ { user: ${quote(user)}, password: ${quote(pass)} } ] }`,
  '}',
  ...(hasGuests ? [`no_auth_user: ${quote(user)}`] : []),
];

const renderUser = (key: string, permissions: RolePermissions): string =>
  [
    `    { nkey: ${key}, permissions: {`,
    `      publish: { allow: ${list(permissions.publish)} }`,
    `      subscribe: { allow: ${list(permissions.subscribe)} }`,
    '    } }',
  ].join('\n');

const list = (values: readonly string[]): string => `[ ${values.map(quote).join(', ')} ]`;

/** Quoted, because a bare `$` would begin a variable. */
const quote = (value: string): string => JSON.stringify(value);
