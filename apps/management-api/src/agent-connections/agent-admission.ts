import { isNodeToken } from '@berth/cluster-api';
import { JOINING_USER, REFUSED_USER } from '@berth/contracts';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { HostId } from '@berth/domain';
import { Semaphore, type Clock } from '@berth/lifecycle';
import {
  admitAgent,
  isSubjectToken,
  isTrustedIssuer,
  readAuthRequest,
  refuseAgent,
  type AuthAnswerOptions,
  type AuthRequest,
} from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import { hashHostSecret, hostOfJoinToken, type HostSessionsStore, isSameHash } from '../host-sessions/index.js';
import type { NodeAdmission } from '../node-tokens/index.js';
import { RefusedAgents, type AdmissionFault } from './refused-agents.js';

export interface AgentAdmissionOptions {
  /** Of the callout role: it may answer the server's questions and nothing else. */
  readonly connection: NatsConnection;
  readonly store: HostSessionsStore;
  /** Null: no node of a cluster joins by itself. */
  readonly nodes: Pick<NodeAdmission, 'admit'> | null;
  readonly answer: AuthAnswerOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each refusal, to be counted. */
  readonly onRefused?: (fault: AdmissionFault) => void;
}

/** Where a server with an auth callout asks. */
const AUTH_SUBJECT = '$SYS.REQ.USER.AUTH';
/** Where servers hear what they asked. Any other asker gets no answer that could be written somewhere. */
const SERVER_INBOX = '$SYS._INBOX.';

/** Each costs the database a statement or two, which has other work. */
const DECISIONS_AT_ONCE = 32;
/** All hosts of a large fleet that come back at one time. A decision that comes after the broker's limit is not heard. */
const DECISIONS_WAITING_MAX = 1_024;
/** Nodes have turns of their own: a cluster that does not answer keeps nobody waiting that has joined. */
const NODES_AT_ONCE = 8;
const NODES_WAITING_MAX = 64;
/** Above the length of any token or secret that was ever made here. */
const PASSWORD_CHARACTERS_MAX = 256;

interface AdmittedHost {
  readonly hostId: HostId;
  readonly isRefused: boolean;
}

/** Says to the broker which agent may come in, and as which host. */
export class AgentAdmission {
  readonly #options: AgentAdmissionOptions;
  readonly #refused: RefusedAgents;
  readonly #decisions = new Semaphore(DECISIONS_AT_ONCE);
  readonly #nodes = new Semaphore(NODES_AT_ONCE);

  constructor(options: AgentAdmissionOptions) {
    this.#options = options;
    this.#refused = new RefusedAgents(options);
  }

  /** Several processes may answer; the queue group lets one of them. */
  start(): void {
    this.#options.connection.subscribe(AUTH_SUBJECT, {
      queue: 'agent-admission',
      callback: (error, message) => {
        if (error !== null) this.#options.logger.error('agent admission lost its subscription', { error });
        else void this.#answerInTurn(message);
      },
    });
  }

  /** One beyond those that may wait is not even read: that, and the signature of an answer, would cost as much again. */
  async #answerInTurn(message: Msg): Promise<void> {
    if (message.reply?.startsWith(SERVER_INBOX) !== true) {
      this.#options.logger.warn('a question about an agent was refused: it does not come from a server');
      return;
    }
    const isAnswered = await this.#decisions.runUnlessCrowded(DECISIONS_WAITING_MAX, () => this.#answer(message));
    if (!isAnswered) this.#refused.note('busy', {});
  }

  /** No answer is a refusal after the broker's time limit, and the agent tries again: right while the database is away. */
  async #answer(message: Msg): Promise<void> {
    try {
      const request = readAuthRequest(message.string());
      const token = nodeTokenOf(request);
      if (!isTrustedIssuer(request, this.#options.answer)) await this.#tell(message, request, 'other-issuer');
      else if (token === null) await this.#tell(message, request, await this.#identify(request));
      else void this.#answerNodeInTurn(message, request, token);
    } catch (error) {
      this.#options.logger.error('agent admission could not be decided', { error });
    }
  }

  async #answerNodeInTurn(message: Msg, request: AuthRequest, token: string): Promise<void> {
    const answer = async (): Promise<void> => this.#tell(message, request, await this.#byNodeToken(request, token));
    try {
      if (!(await this.#nodes.runUnlessCrowded(NODES_WAITING_MAX, answer))) await this.#tell(message, request, 'busy');
    } catch (error) {
      this.#options.logger.error('the admission of a node could not be decided', { error });
    }
  }

  async #tell(message: Msg, request: AuthRequest, admission: AdmittedHost | AdmissionFault): Promise<void> {
    const { answer, clock } = this.#options;
    if (typeof admission === 'string') {
      this.#refused.note(admission, request);
      message.respond(await refuseAgent(request, 'unknown host, wrong secret, or used token', answer));
    } else {
      message.respond(await admitAgent(request, { ...admission, nowMs: clock.nowMs() }, answer));
    }
  }

  async #identify({ password, user }: AuthRequest): Promise<AdmittedHost | AdmissionFault> {
    if (user === undefined || password === undefined) return 'nameless';
    if (password.length > PASSWORD_CHARACTERS_MAX) return 'no-host';
    if (user === JOINING_USER || user === REFUSED_USER) return this.#byToken(password, user === REFUSED_USER);
    return this.#bySecret(user as HostId, password);
  }

  async #byNodeToken({ address = '' }: AuthRequest, token: string): Promise<AdmittedHost | AdmissionFault> {
    const { clock, nodes, store } = this.#options;
    const admitted = (await nodes?.admit(token, address)) ?? 'no-host';
    if (typeof admitted === 'string') return admitted;
    const state = await store.tokenState(admitted.hostId, hashHostSecret(token), clock.nowMs());
    return state === 'good' ? { ...admitted, isRefused: false } : 'unknown';
  }

  /** Only who has a whole token that was good once may ask what has become of it. */
  async #byToken(token: string, isRefused: boolean): Promise<AdmittedHost | AdmissionFault> {
    const { clock, store } = this.#options;
    const hostId = hostOfJoinToken(token);
    if (hostId === null) return 'no-host';
    const state = await store.tokenState(hostId, hashHostSecret(token), clock.nowMs());
    const isAdmitted = isRefused ? state === 'used' || state === 'expired' : state === 'good';
    return isAdmitted ? { hostId, isRefused } : 'unknown';
  }

  async #bySecret(hostId: HostId, secret: string): Promise<AdmittedHost | AdmissionFault> {
    if (!isSubjectToken(hostId)) return 'no-host';
    const host = await this.#options.store.find(hostId);
    const isKnown = host?.secretHash != null && isSameHash(host.secretHash, hashHostSecret(secret));
    return isKnown ? { hostId, isRefused: false } : 'unknown';
  }
}

/** Null: whoever asks has no token of a cluster, or asks for something else. */
const nodeTokenOf = ({ password = '', user }: AuthRequest): string | null =>
  user === JOINING_USER && isNodeToken(password) ? password : null;
