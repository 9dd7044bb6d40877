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

/** Where a server listens. */
interface NatsListener {
  /** `127.0.0.1`: for this machine alone. */
  readonly host: string;
  /** -1: the server picks a free port itself and says which in its ports file. */
  readonly port: number;
}

/** Paths of PEM files, as the server sees them. */
export interface NatsTls {
  /** With the chain that clients need behind it. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Of the authority whose certificates are believed. */
  readonly caFile: string;
}

/** The servers that hold the streams together, as one of them sees it. */
export interface NatsPeers {
  /** Another one for each server of the cluster. */
  readonly name: string;
  /** Where the others reach this one. */
  readonly listener: NatsListener;
  /** `host:port` of this one, as the others shall tell it on: where it comes from is no name that its certificate is for. */
  readonly address: string;
  /** `host:port` of all of them. */
  readonly addresses: readonly string[];
  /** They show each other certificates of the same authority; null: whoever reaches a port is one of them. */
  readonly tls: NatsTls | null;
}

export interface NatsConf {
  readonly storeFolder: string;
  readonly listener: NatsListener;
  /** For `/healthz` and figures, without a password. */
  readonly monitor: NatsListener;
  /** Where the ports file is written, if anywhere. */
  readonly portsFolder: string | null;
  /** Null: what is said can be read and changed on the way. Otherwise nothing is said before both are sure. */
  readonly tls: NatsTls | null;
  /** Upper limit of the sum of what the file streams reserve (`max_bytes`). */
  readonly fileStoreMaxBytes: number;
  readonly memoryStoreMaxBytes: number;
  readonly auth: NatsAuth;
  /** Default: it stands alone. */
  readonly peers?: NatsPeers;
}

/** Account of the platform; user JWTs of agents name it as their audience. */
const NATS_APP_ACCOUNT = 'APP';

const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const CONSUMERS_PER_STREAM_DEFAULT = 2_000;
const HA_ASSETS_MAX = 1_000;
const AUTH_TIMEOUT_S = 5;

/** Text of a server's configuration file. It holds no secret, only the names of files that do. */
export const renderNatsConf = (conf: NatsConf): string =>
  [
    `listen: ${addressOf(conf.listener)}`,
    `http: ${addressOf(conf.monitor)}`,
    ...(conf.portsFolder === null ? [] : [`ports_file_dir: ${quote(conf.portsFolder)}`]),
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
    // A greeting before TLS could be changed on the way, and with it the client talked out of TLS.
    ...(conf.tls === null ? [] : renderTls(conf.tls, 'handshake_first: true')),
    ...(conf.peers === undefined ? [] : renderPeers(conf.peers)),
    ...renderAuth(conf.auth),
    '',
  ].join('\n');

const addressOf = ({ host, port }: NatsListener): string => quote(`${host}:${String(port)}`);

const renderTls = (tls: NatsTls, ...more: string[]): string[] => [
  'tls {',
  `  cert_file: ${quote(tls.certFile)}`,
  `  key_file: ${quote(tls.keyFile)}`,
  `  ca_file: ${quote(tls.caFile)}`,
  ...more.map((line) => `  ${line}`),
  '}',
];

const renderPeers = ({ address, addresses, listener, name, tls }: NatsPeers): string[] => [
  `server_name: ${quote(name)}`,
  'cluster {',
  '  name: berth',
  `  listen: ${addressOf(listener)}`,
  `  routes: ${list(addresses.map((peer) => `nats-route://${peer}`))}`,
  `  advertise: ${quote(address)}`,
  // The address of a peer must not be told to clients: they have their own list.
  '  no_advertise: true',
  ...(tls === null ? [] : renderTls(tls, 'verify: true').map((line) => `  ${line}`)),
  '}',
];

const renderAuth = (auth: NatsAuth): string[] => {
  if (auth.kind === 'none') return [];
  if (auth.kind === 'password') return renderPassword(auth);
  const permissions = rolePermissions(auth.shards ?? SHARD_COUNTS_DEFAULT);
  const user = (role: NatsRole): string =>
    auth.keys.roles[role].map((key) => renderUser(key, permissions[role])).join('\n');
  return [
    'system_account: SYS',
    'accounts {',
    `  ${NATS_APP_ACCOUNT} { jetstream: enabled, users: [`,
    ...(['management', 'sessions', 'controllers', 'router', 'gateway', 'operator', 'backup', 'restore'] as const).map(
      user,
    ),
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
    `    auth_users: [ ${NATS_ROLES.flatMap((role) => auth.keys.roles[role]).join(', ')} ]`,
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
