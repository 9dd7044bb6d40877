import type { Clock, Random } from '@berth/lifecycle';
import {
  AuthorizationError,
  connect,
  nkeyAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  type Status,
} from '@nats-io/transport-node';
import { ReconnectPace } from './reconnect-pace.js';

export type NatsCredentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'password'; readonly user: string; readonly pass: string }
  | { readonly kind: 'token'; readonly token: string }
  /** Seed of an Ed25519 key; it never crosses the wire. */
  | { readonly kind: 'nkey'; readonly seed: string };

export interface ConnectNatsOptions {
  /** One address, or several with commas between; `tls://` says nothing before the broker has shown its certificate. */
  readonly url: string;
  /** As the broker's monitoring shows the connection. */
  readonly name: string;
  readonly credentials: NatsCredentials;
  /** Answers come below this; the role must be allowed to subscribe there. */
  readonly inboxPrefix?: string;
  /** How long to try before the first connection stands. */
  readonly connectWithinMs: number;
  /** Others can connect only once it has, so it looks for the broker far more often. */
  readonly isFirst?: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly onStatus?: (event: ConnectionEvent) => void;
  /** Ends the tries. */
  readonly signal?: AbortSignal;
}

/** An event of a connection that stood, or of a try to make it stand. */
export interface ConnectionEvent {
  readonly kind: 'connect-failed' | Exclude<Status['type'], 'ping' | 'reconnecting'>;
  readonly detail: string;
}

const PING_INTERVAL_MS = 5_000;
/** Two pings without an answer: a dead peer is noticed within 15 s, not within the kernel's quarter of an hour. */
const PINGS_UNANSWERED_MAX = 2;
const DIAL_TIMEOUT_MS = 5_000;
const FIRST_WAIT_MS = 50;

/**
 * Connects and stays connected: after the first success it reconnects for ever, whatever the broker says, because a
 * broker whose auth callout is still starting refuses everybody for a while. It asks such a broker less and less often.
 *
 * @throws the last error when no connection stood within the time given
 */
export async function connectNats(options: ConnectNatsOptions): Promise<NatsConnection> {
  const { clock } = options;
  const untilMs = clock.monotonicMs() + options.connectWithinMs;
  const pace = new ReconnectPace(options.random);
  for (;;) {
    try {
      const connection = await connect(connectionOptions(options, pace));
      void followPace(connection, pace);
      if (options.onStatus !== undefined) void reportStatus(connection, options.onStatus);
      return connection;
    } catch (error) {
      options.onStatus?.({ kind: 'connect-failed', detail: messageOf(error) });
      if (clock.monotonicMs() >= untilMs || options.signal?.aborted === true) throw error;
      if (error instanceof AuthorizationError) pace.noteRefusal();
      else pace.forgetRefusals();
      await clock.sleep(pace.nextWaitMs(), options.signal);
    }
  }
}

const CLOSE_WITHIN_MS = 5_000;

/** Sends what is buffered, lets what was asked be answered, and closes; a broker that is away does not hold it up. */
export async function drainConnection(connection: NatsConnection, clock: Clock): Promise<void> {
  if (connection.isClosed()) return;
  const drained = new AbortController();
  const finish = (): void => {
    drained.abort();
  };
  void connection.drain().then(finish, finish);
  await clock.sleep(CLOSE_WITHIN_MS, drained.signal);
  if (!connection.isClosed()) await connection.close();
}

function connectionOptions(options: ConnectNatsOptions, pace: ReconnectPace): NodeConnectionOptions {
  return {
    servers: serversOf(options.url),
    name: options.name,
    ...loginOptions(options.credentials),
    ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
    ...tlsOptions(options.url),
    timeout: DIAL_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_UNANSWERED_MAX,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => (options.isFirst === true ? FIRST_WAIT_MS : pace.nextWaitMs()),
    ignoreAuthErrorAbort: true,
    // A stack captured for each request would cost more than the request.
    noAsyncTraces: true,
  };
}

/**
 * Without a handshake first, whoever sits between could answer in the broker's place that it knows no TLS, and the client
 * would go on in the clear. One `tls://` among several addresses is meant for all: their broker is one.
 */
export const tlsOptions = (url: string): NodeConnectionOptions =>
  isEncrypted(url) ? { tls: { handshakeFirst: true } } : {};

export const isEncrypted = (url: string): boolean => serversOf(url).some((server) => server.startsWith('tls:'));

/** One address, or several with commas between. */
export const serversOf = (url: string): string[] => url.split(',').map((server) => server.trim());

export function loginOptions(credentials: NatsCredentials): NodeConnectionOptions {
  switch (credentials.kind) {
    case 'none':
      return {};
    case 'password':
      return { user: credentials.user, pass: credentials.pass };
    case 'token':
      return { token: credentials.token };
    case 'nkey':
      return { authenticator: nkeyAuthenticator(new TextEncoder().encode(credentials.seed)) };
  }
}

/** An admission that has run out is no refusal: the next try is let in. */
async function followPace(connection: NatsConnection, pace: ReconnectPace): Promise<void> {
  pace.forgetRefusals();
  for await (const status of connection.status()) {
    if (status.type === 'reconnect') pace.forgetRefusals();
    else if (status.type === 'error' && status.error instanceof AuthorizationError) pace.noteRefusal();
  }
}

async function reportStatus(connection: NatsConnection, onStatus: (event: ConnectionEvent) => void): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type !== 'ping' && status.type !== 'reconnecting')
      onStatus({ kind: status.type, detail: detailOf(status) });
  }
}

function detailOf(status: Status): string {
  if ('error' in status) return messageOf(status.error);
  return 'server' in status ? status.server : '';
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
