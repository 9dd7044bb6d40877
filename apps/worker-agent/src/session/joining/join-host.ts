import { createHash } from 'node:crypto';
import { isNodeToken } from '@berth/cluster-api';
import {
  JOINING_USER,
  REFUSED_USER,
  hostSubject,
  inboxPrefix,
  readJoinReply,
  refusedInboxPrefix,
  type JoinReply,
  type JoinRequest,
} from '@berth/contracts';
import { PlatformError, isHostOfNode, type HostId, type Inventory } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import { AgentTransport, isRetriable, type ConnectionEvent, type NatsCredentials } from '@berth/messaging';
import { StartupError, type Logger } from '@berth/telemetry';
import { AuthorizationError, type NatsConnection } from '@nats-io/transport-node';
import type { HostIdentity, IdentityStore } from './identity.store.js';
import { JoinWait } from './join-wait.js';
import { hostOfToken } from './own-token.js';

export interface ConnectAs {
  readonly credentials: NatsCredentials;
  readonly inboxPrefix: string;
  readonly connectWithinMs: number;
  readonly onStatus?: (event: ConnectionEvent) => void;
  readonly signal?: AbortSignal;
}

interface IdentityOptions {
  readonly store: IdentityStore;
  /** Null when the operator gave none. */
  readonly token: string | null;
  readonly random: Random;
  readonly logger: Logger;
}

export interface JoinOptions extends Omit<IdentityOptions, 'random'> {
  readonly inventory: () => Promise<Inventory>;
  readonly connect: (as: ConnectAs) => Promise<NatsConnection>;
  readonly clock: Clock;
  /** Told while it takes long; default: one whose lines are warnings. */
  readonly wait?: JoinWait;
}

const SECRET_LENGTH = 48;
const CONNECT_WITHIN_MS = 60_000;
/** A broker whose admission is still starting refuses everybody for a while. */
const REFUSED_WITHIN_MS = 10_000;
/** A node is refused too while its cluster does not answer, and for a moment while its host still seems to be there. */
const NODE_REFUSED_WITHIN_MS = 45_000;
const ASK_TIMEOUT_MS = 5_000;
const ASK_AGAIN_MS = 1_000;

const NOT_JOINED =
  'This agent has not joined yet: set BERTH_JOIN_TOKEN to a token of POST /v2/hosts/join-tokens, or in a cluster ' +
  'BERTH_JOIN_TOKEN_FILE.';
const REFUSED_NODE =
  'The token of this Pod was refused: its service account is not the one that may join, its cluster did not answer, or the ' +
  "node's host was removed (`berth host readmit ID`, or POST /v2/hosts/ID/action readmit). The management API logs which.";

/**
 * The identity under which this agent works: the one on disk, or a new one for the host that its one-time token names. The
 * secret is on disk before anybody hears of it, so a lost answer is mended by asking again.
 *
 * @throws StartupError saying what the operator has to do
 */
export async function identifyHost(options: IdentityOptions): Promise<HostIdentity> {
  const named = options.token === null ? null : hostOfToken(options.token);
  const known = await knownIdentity(options, named);
  if (known !== null) return known;
  if (named === null) throw new StartupError(NOT_JOINED);
  const secret = options.random.id(SECRET_LENGTH);
  const identity: HostIdentity = { hostId: named, secret, isJoined: false, dataCenterId: '' };
  await options.store.save(identity);
  return identity;
}

/**
 * Has the control plane confirm an identity that it doesn't know yet, for the token.
 *
 * @throws StartupError saying what the operator has to do
 */
export async function joinHost(identity: HostIdentity, options: JoinOptions): Promise<HostIdentity> {
  if (identity.isJoined) return identity;
  if (options.token === null) throw new StartupError(NOT_JOINED);
  const joined = await confirm(identity, options.token, options);
  await options.store.save(joined);
  options.logger.info('joined', { hostId: joined.hostId, dataCenterId: joined.dataCenterId });
  return joined;
}

/**
 * A token for another host replaces who this was: its control plane has been set up anew, or the operator wants it so, or the
 * node is a new one on the disk of an old one. A host that was invited before nodes could join by themselves stays that.
 */
async function knownIdentity({ store, logger }: IdentityOptions, named: HostId | null): Promise<HostIdentity | null> {
  const known = await store.load();
  if (known === null || named === null || known.hostId === named) return known;
  if (isHostOfNode(named) && !isHostOfNode(known.hostId) && known.isJoined) return known;
  logger.warn('the join token is for another host; this agent becomes that one', { was: known.hostId, becomes: named });
  return null;
}

export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

interface JoinAttempt {
  readonly options: JoinOptions;
  readonly hostId: HostId;
  readonly wait: JoinWait;
}

async function confirm(identity: HostIdentity, token: string, options: JoinOptions): Promise<HostIdentity> {
  const { hostId, secret } = identity;
  const { clock, logger, wait = new JoinWait(clock, logger) } = options;
  const joining: JoinAttempt = { options, hostId, wait };
  const prefix = inboxPrefix(hostId);
  const isNode = isNodeToken(token);
  const patienceMs = isNode ? NODE_REFUSED_WITHIN_MS : REFUSED_WITHIN_MS;
  const connection = await connectToJoin(joining, { user: JOINING_USER, pass: token, prefix, patienceMs });
  if (connection === 'refused') {
    // An earlier life may have joined without hearing so: then the secret is good although the token is used up.
    const own = await connectToJoin(joining, { user: hostId, pass: secret, prefix });
    if (own === 'refused') throw isNode ? new StartupError(REFUSED_NODE) : await whyRefused(identity, token, joining);
    await own.close();
    return { ...identity, isJoined: true };
  }
  try {
    const request = { token, secretHash: hashSecret(secret), inventory: await options.inventory() };
    const { dataCenterId } = await askToJoin(joining, connection, request);
    return { ...identity, isJoined: true, dataCenterId };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw notLetIn(error);
  } finally {
    await connection.close();
  }
}

const notLetIn = (error: PlatformError): StartupError =>
  new StartupError(`The control plane did not let this host join: ${error.message}`, { cause: error });

const UNKNOWN_TOKEN =
  'The join token was refused: there is no such token, or its host was removed. ' +
  'Ask for a new one with POST /v2/hosts/join-tokens, and set BERTH_JOIN_TOKEN to it.';

/** The holder of a token that was good once may ask what has become of it; of any other nothing is said. */
async function whyRefused(
  { hostId, secret }: HostIdentity,
  token: string,
  joining: JoinAttempt,
): Promise<StartupError> {
  const asking = { user: REFUSED_USER, pass: token, prefix: refusedInboxPrefix(hostId), patienceMs: 0 };
  const connection = await connectToJoin(joining, asking);
  if (connection === 'refused') return new StartupError(UNKNOWN_TOKEN);
  try {
    const inventory = await joining.options.inventory();
    await askToJoin(joining, connection, { token, secretHash: hashSecret(secret), inventory });
    return new StartupError(UNKNOWN_TOKEN);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return notLetIn(error);
  } finally {
    await connection.close();
  }
}

interface Login {
  readonly user: string;
  readonly pass: string;
  readonly prefix: string;
  /** How long refusals are not believed. */
  readonly patienceMs?: number;
}

async function connectToJoin(
  { options: { connect, clock }, wait }: JoinAttempt,
  { user, pass, prefix, patienceMs = REFUSED_WITHIN_MS }: Login,
): Promise<NatsConnection | 'refused'> {
  const patience = new AbortController();
  let refusedSinceMs: number | null = null;
  const onStatus = ({ kind, detail }: ConnectionEvent): void => {
    if (kind !== 'connect-failed') return;
    wait.note(`no connection to the broker: ${detail}`);
    const isRefused = /authorization/i.test(detail);
    refusedSinceMs = isRefused ? (refusedSinceMs ?? clock.monotonicMs()) : null;
    if (refusedSinceMs !== null && clock.monotonicMs() - refusedSinceMs >= patienceMs) patience.abort();
  };
  try {
    return await connect({
      credentials: { kind: 'password', user, pass },
      inboxPrefix: prefix,
      connectWithinMs: CONNECT_WITHIN_MS,
      onStatus,
      signal: patience.signal,
    });
  } catch (error) {
    if (error instanceof AuthorizationError) return 'refused';
    throw new StartupError(`No broker answered at BERTH_NATS_URL: ${messageOf(error)}`, { cause: error });
  }
}

/** Repeats the question while nobody answers: the control plane may start after its hosts. */
async function askToJoin(
  { options: { clock }, hostId, wait }: JoinAttempt,
  connection: NatsConnection,
  request: JoinRequest,
): Promise<JoinReply> {
  const transport = new AgentTransport(connection);
  const untilMs = clock.monotonicMs() + CONNECT_WITHIN_MS;
  for (;;) {
    try {
      const answer = await transport.request(hostSubject(hostId, 'join'), request, { timeoutMs: ASK_TIMEOUT_MS });
      const reply = readJoinReply(answer);
      if (reply.kind === 'value') return reply.value;
      throw new StartupError(`The answer of the control plane cannot be read: ${reply.reason}.`);
    } catch (error) {
      if (!isRetriable(error)) throw error;
      if (clock.monotonicMs() >= untilMs) throw new StartupError('The control plane did not answer.', { cause: error });
      wait.note(`the control plane does not answer: ${messageOf(error)}`);
      await clock.sleep(ASK_AGAIN_MS);
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
