import { createNatsKeys, publicNatsKeys, type NatsAuth, type NatsKeys, type NatsRole } from '@berth/broker-access';
import {
  makeTempFolder,
  startNatsServer,
  type NatsServer,
  type StartNatsServerOptions,
  type TempFolder,
} from '@berth/servers';
import { afterAll, beforeAll } from '@jest/globals';
import { certifyLoopback, type LoopbackCertificate } from './loopback-certificate.js';
import { connect, nkeyAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';

type NatsLimits = Pick<StartNatsServerOptions, 'fileStoreMaxBytes' | 'memoryStoreMaxBytes'>;

/** `auth`: who is let in from then on, whatever the access was. */
type NatsChange = NatsLimits & Pick<StartNatsServerOptions, 'auth'>;

export interface UseNatsServerOptions extends NatsLimits {
  /**
   * `open` (default): everybody may do everything. `roles`: as in production, with a callout that nobody answers yet.
   * `password`: a client that knows it may do everything; `guests`: one that knows none too.
   */
  readonly access?: 'open' | 'roles' | 'password' | 'guests';
  /** It says nothing before TLS, with a certificate of an authority of its own. Default: no TLS. */
  readonly isEncrypted?: boolean;
}

/** A nats-server of one spec file, on free ports, with an empty store. */
export interface NatsFixture {
  /** The running server; another object after a restart. */
  readonly server: NatsServer;
  /** Keys of the roles; only with `access: 'roles'`. */
  readonly keys: NatsKeys;
  /** PEM of the authority behind its certificate; only with `isEncrypted`. */
  readonly authority: string;
  /** A client that is closed after the last test of the file. */
  connect(options?: NodeConnectionOptions): Promise<NatsConnection>;
  /** A client with the role's key and inbox prefix; only with `access: 'roles'`. */
  connectAs(role: NatsRole, options?: NodeConnectionOptions): Promise<NatsConnection>;
  /** Ends the server (`kill`: by SIGKILL) and starts it again on the same ports and store, with what is given changed. */
  restart(how?: 'stop' | 'kill', changed?: NatsChange): Promise<void>;
}

/** Of a server with the access `password` or `guests`. */
export const SHARED_USER = { user: 'everybody', pass: 'everybody knows it' } as const;

const START_TIMEOUT_MS = 240_000;
const READY_WITHIN_MS = 120_000;

/** Call once at the top of a spec: starts the server before its first test and removes it after its last. */
export const useNatsServer = (options: UseNatsServerOptions = {}): NatsFixture => {
  const bench = new NatsBench(options);
  beforeAll(() => bench.open(), START_TIMEOUT_MS);
  afterAll(() => bench.close(), START_TIMEOUT_MS);
  return bench;
};

class NatsBench implements NatsFixture {
  readonly #options: UseNatsServerOptions;
  readonly #keys: NatsKeys | undefined;
  readonly #clients: NatsConnection[] = [];
  #folder: TempFolder | undefined;
  #server: NatsServer | undefined;
  #certified: LoopbackCertificate | undefined;

  constructor(options: UseNatsServerOptions) {
    this.#options = options;
    this.#keys = options.access === 'roles' ? createNatsKeys() : undefined;
  }

  get server(): NatsServer {
    return present(this.#server, 'The server starts in beforeAll.');
  }

  get keys(): NatsKeys {
    return present(this.#keys, "Keys exist with access: 'roles' only.");
  }

  get authority(): string {
    return present(this.#certified, 'There is an authority with isEncrypted only.').authority;
  }

  async open(): Promise<void> {
    this.#folder = await makeTempFolder('berth-nats');
    if (this.#options.isEncrypted === true) this.#certified = await certifyLoopback(this.#folder.path);
    this.#server = await this.#start('auto', 'auto');
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    // The store is thrown away, so an orderly end would only cost time.
    await this.#server?.kill();
    await this.#folder?.remove();
  }

  async connect(options: NodeConnectionOptions = {}): Promise<NatsConnection> {
    const client = await connect({ servers: this.server.url, ...options });
    this.#clients.push(client);
    return client;
  }

  connectAs(role: NatsRole, options: NodeConnectionOptions = {}): Promise<NatsConnection> {
    const seed = new TextEncoder().encode(this.keys.roles[role]);
    return this.connect({ authenticator: nkeyAuthenticator(seed), inboxPrefix: `_INBOX_${role}`, ...options });
  }

  async restart(how: 'stop' | 'kill' = 'stop', changed: NatsChange = {}): Promise<void> {
    const { port, httpPort } = this.server;
    await this.server[how]();
    this.#server = await this.#start(port, httpPort, changed);
  }

  #start(port: number | 'auto', httpPort: number | 'auto', changed: NatsChange = {}): Promise<NatsServer> {
    const {
      access = 'open',
      auth = this.#authOf(access),
      isEncrypted: _,
      ...limits
    } = { ...this.#options, ...changed };
    const storeDir = present(this.#folder, 'The folder is made in beforeAll.').path;
    const tls = this.#certified?.tls;
    const encryption = tls === undefined ? {} : { tls };
    const place = { storeDir, port, httpPort };
    return startNatsServer({ ...limits, ...encryption, ...place, auth, readyDeadlineMs: READY_WITHIN_MS });
  }

  #authOf(access: NonNullable<UseNatsServerOptions['access']>): NatsAuth {
    switch (access) {
      case 'open':
        return { kind: 'none' };
      case 'roles':
        return { kind: 'roles', keys: publicNatsKeys(this.keys) };
      case 'password':
      case 'guests':
        return { kind: 'password', ...SHARED_USER, hasGuests: access === 'guests' };
    }
  }
}

const present = <T>(value: T | undefined, otherwise: string): T => {
  if (value === undefined) throw new Error(otherwise);
  return value;
};
