import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { AuthorizationError, PermissionViolationError, RequestError, connect } from '@nats-io/transport-node';
import { loginOptions, serversOf, type NatsCredentials } from '../connection.js';

/**
 * Who may speak for a host on a broker. `open`: whoever reaches it, without any credentials. `unlimited`: whoever has
 * the credentials of this process, for the broker does not limit what their owner may do.
 */
export type GuardFinding = 'guarded' | 'open' | 'unlimited';

export interface BrokerGuardOptions {
  readonly url: string;
  /** With which this process hears agents. */
  readonly credentials: NatsCredentials;
  /** The operator says that everybody on the broker may be believed; then it is not asked. */
  readonly isTrusted: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Above the five seconds after which a broker refuses whom nobody admits. */
const ANSWER_MS = 8_000;
const ASK_AGAIN_MS = 1_000;
const ASKING_MAX = 8;
const SETTLE_MS = 1_000;
/** Nobody listens there, and no agent may be named so that it would be its own subject. */
const SUBJECT_OF_NOBODY = 'agents.nobody.up.nothing';

const MISSING: Readonly<Record<Exclude<GuardFinding, 'guarded'>, string>> = {
  open: 'the broker lets anyone in, so anyone could speak for any host',
  unlimited: 'the broker does not limit what its users may say, so who has their credentials could speak for any host',
};

/**
 * Finds out whether a broker keeps hosts apart. What `take` and `done` know of their asker is the host in the subject,
 * and only the broker can see to it that this is the asker's own.
 */
export class BrokerGuard {
  /** Whether agents may be heard; it takes as long as the broker, or its callout, is away. */
  readonly isOpen: Promise<boolean>;
  readonly #options: BrokerGuardOptions;
  readonly #stop = new AbortController();
  #missing: string | null = null;

  constructor(options: BrokerGuardOptions) {
    this.#options = options;
    this.isOpen = this.#decide();
  }

  /** Why agents are not heard, in words; empty while they are, or while it is not known. */
  get missing(): readonly string[] {
    return this.#missing === null ? [] : [`agents are not heard: ${this.#missing}`];
  }

  /**
   * Resolves when it is known, or after a second: a start must not wait for a callout that is away. Who starts meanwhile
   * is heard as soon as it is known.
   */
  async settle(): Promise<void> {
    const known = new AbortController();
    void this.isOpen.then(() => {
      known.abort();
    });
    await this.#options.clock.sleep(SETTLE_MS, known.signal);
  }

  /** Ends the asking. */
  stop(): void {
    this.#stop.abort();
  }

  async #decide(): Promise<boolean> {
    const { isTrusted, logger } = this.#options;
    if (isTrusted) {
      logger.warn('BERTH_TRUSTED_BROKER=on: every message is believed to be of the host that it names');
      return true;
    }
    const finding = await this.#find();
    if (finding === 'guarded' || finding === null) return finding !== null;
    this.#missing = MISSING[finding];
    logger.error(
      `agents are not heard: ${this.#missing}. Give it an auth callout and a user for each role, or say BERTH_TRUSTED_BROKER=on`,
    );
    return false;
  }

  /** Null when it was stopped first. */
  async #find(): Promise<GuardFinding | null> {
    const isOpen = await this.#firstAnswer(() => isLetIn(this.#options.url));
    if (isOpen !== false) return isOpen === null ? null : 'open';
    const isUnlimited = await this.#firstAnswer(() => maySpeakForHosts(this.#options));
    if (isUnlimited === null) return null;
    return isUnlimited ? 'unlimited' : 'guarded';
  }

  /**
   * Asks again each second while earlier tries still wait: a callout that has just come answers a new one at once, and
   * the others are refused only when their time is over.
   */
  async #firstAnswer(ask: () => Promise<boolean | null>): Promise<boolean | null> {
    const { signal } = this.#stop;
    const answered = new AbortController();
    const until = AbortSignal.any([signal, answered.signal]);
    let answer: boolean | null = null;
    let asking = 0;
    while (!until.aborted) {
      if (asking < ASKING_MAX) {
        asking += 1;
        void ask().then((result) => {
          asking -= 1;
          if (result === null || until.aborted) return;
          answer = result;
          answered.abort();
        });
      }
      await this.#options.clock.sleep(ASK_AGAIN_MS, until);
    }
    return answer;
  }
}

/** Whether the broker lets somebody in who says nothing of himself; null when it could not be asked. */
async function isLetIn(url: string): Promise<boolean | null> {
  try {
    const stranger = await connect({ servers: serversOf(url), name: 'guard', reconnect: false, timeout: ANSWER_MS });
    await stranger.close();
    return true;
  } catch (error) {
    return error instanceof AuthorizationError ? false : null;
  }
}

/** Over a connection of its own: the refusal that is hoped for is none of the other connections' business. */
async function maySpeakForHosts({ credentials, url }: BrokerGuardOptions): Promise<boolean | null> {
  const own = { servers: serversOf(url), name: 'guard', ...loginOptions(credentials) };
  try {
    const connection = await connect({ ...own, reconnect: false, timeout: ANSWER_MS });
    try {
      await connection.request(SUBJECT_OF_NOBODY, '', { timeout: ANSWER_MS });
      return true;
    } catch (error) {
      if (isForbidden(error)) return false;
      return error instanceof RequestError && error.isNoResponders() ? true : null;
    } finally {
      await connection.close();
    }
  } catch {
    return null;
  }
}

const isForbidden = (error: unknown): boolean =>
  error instanceof PermissionViolationError ||
  (error instanceof RequestError && error.cause instanceof PermissionViolationError);
