import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { admitAgent, readAuthRequest, refuseAgent, type AuthAnswerOptions, type AuthRequest } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { HostSessionsStore } from '../persistence/stores/host-sessions.store.js';
import { hostOfJoinToken } from './join-token.js';
import { hashSecret, isSameHash } from './secret-hash.js';

export interface AgentAdmissionOptions {
  /** Of the callout role: it may answer the server's questions and nothing else. */
  readonly connection: NatsConnection;
  readonly store: HostSessionsStore;
  readonly answer: AuthAnswerOptions;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where a server with an auth callout asks. */
const AUTH_SUBJECT = '$SYS.REQ.USER.AUTH';
/** Where servers hear what they asked. Whoever else asks gets no answer that could be written somewhere. */
const SERVER_INBOX = '$SYS._INBOX.';
/** Name under which an agent connects that has only its one-time token yet. */
const JOINING_USER = 'join';
/** Name under which one asks why its token was refused: it may ask that, and nothing else. */
const REFUSED_USER = 'join-refused';

interface Admission {
  readonly hostId: HostId;
  readonly isRefused: boolean;
}

/** Says to the broker which agent may come in, and as which host. */
export class AgentAdmission {
  readonly #options: AgentAdmissionOptions;

  constructor(options: AgentAdmissionOptions) {
    this.#options = options;
  }

  /** Several processes may answer; the queue group lets one of them. */
  start(): void {
    this.#options.connection.subscribe(AUTH_SUBJECT, {
      queue: 'agent-admission',
      callback: (error, message) => {
        if (error !== null) this.#options.logger.error('agent admission lost its subscription', { error });
        else void this.#answer(message);
      },
    });
  }

  /** No answer is a refusal after the broker's time limit, and the agent tries again: right while the database is away. */
  async #answer(message: Msg): Promise<void> {
    const { answer, clock, logger } = this.#options;
    if (message.reply?.startsWith(SERVER_INBOX) !== true) {
      logger.warn('a question about an agent was refused: it does not come from a server');
      return;
    }
    try {
      const request = readAuthRequest(message.string());
      const admission = await this.#identify(request);
      if (admission === null) this.#logRefusal(request);
      const text =
        admission === null
          ? await refuseAgent(request, 'unknown host, wrong secret, or used token', answer)
          : await admitAgent(request, { ...admission, nowMs: clock.nowMs() }, answer);
      message.respond(text);
    } catch (error) {
      logger.error('agent admission could not be decided', { error });
    }
  }

  /** Our own processes knock without a name as well, to see that nobody is let in who does. */
  #logRefusal({ address = '', user }: AuthRequest): void {
    const { logger } = this.#options;
    if (user === undefined) logger.info('a connection without a name was refused', { address });
    else logger.warn('agent refused', { user, address });
  }

  async #identify({ password, user }: AuthRequest): Promise<Admission | null> {
    if (user === undefined || password === undefined) return null;
    if (user === JOINING_USER || user === REFUSED_USER) return this.#byToken(password, user === REFUSED_USER);
    return this.#bySecret(user as HostId, password);
  }

  /** Only who has a whole token that was good once may ask what has become of it. */
  async #byToken(token: string, isRefused: boolean): Promise<Admission | null> {
    const { clock, store } = this.#options;
    const hostId = hostOfJoinToken(token);
    if (hostId === null) return null;
    const state = await store.tokenState(hostId, hashSecret(token), clock.nowMs());
    const isAdmitted = isRefused ? state === 'used' || state === 'expired' : state === 'good';
    return isAdmitted ? { hostId, isRefused } : null;
  }

  async #bySecret(hostId: HostId, secret: string): Promise<Admission | null> {
    const host = await this.#options.store.find(hostId);
    const isKnown = host?.secretHash != null && isSameHash(host.secretHash, hashSecret(secret));
    return isKnown ? { hostId, isRefused: false } : null;
  }
}
