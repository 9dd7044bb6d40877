import { ROUTER_INBOX, replyFault, routerSubject } from '@berth/contracts';
import type { Clock } from '@berth/lifecycle';
import { watchConnection } from '@berth/messaging';
import {
  NoRespondersError,
  RequestError,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';

export interface RouterProbeOptions {
  readonly connection: NatsConnection;
  /** This router's own. */
  readonly incarnation: string;
  /** All that are known, by incarnation. */
  readonly routers: () => ReadonlySet<string>;
  /** Only one broker knows at once who has gone; of several each hears of it in its time. */
  readonly hasOneBroker: boolean;
  readonly clock: Clock;
  /** Told once of each that is proven dead. */
  readonly onDead: (incarnation: string) => void;
}

/** Between two looks at a router; it is gone when it does not hear at both. */
const LOOK_MS = 400;
const ANSWER_MS = 1_000;
/** After the connection came back, the others' may be on their way still: they look for the broker about once a second. */
const OTHERS_BACK_MS = 5_000;
/** Far more than ever run. */
const ROUTERS_MAX = 512;

/** Shows other routers that this process is there, and proves of others that theirs is not. */
export class RouterProbe {
  readonly #options: RouterProbeOptions;
  readonly #dead = new Set<string>();
  /** When the first of two looks was not heard, monotonic. */
  readonly #unheard = new Map<string, number>();
  readonly #asked = new Set<string>();
  #subscription: Subscription | undefined;
  #stopLooking: (() => void) | undefined;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: RouterProbeOptions) {
    this.#options = options;
  }

  /** Incarnations whose process is gone. */
  get dead(): ReadonlySet<string> {
    return this.#dead;
  }

  start(): void {
    const { clock, connection, hasOneBroker, incarnation } = this.#options;
    this.#subscription ??= connection.subscribe(routerSubject(incarnation), {
      callback: (error, message) => {
        if (error === null) answer(message);
      },
    });
    if (!hasOneBroker) return;
    watchConnection(connection, { onLost: () => this.#unheard.clear(), onBack: () => this.#giveTime() });
    this.#stopLooking ??= clock.every(LOOK_MS, () => this.#look());
  }

  stop(): void {
    this.#stopLooking?.();
    this.#subscription?.unsubscribe();
  }

  #giveTime(): void {
    this.#notBeforeMs = this.#options.clock.monotonicMs() + OTHERS_BACK_MS;
  }

  #look(): void {
    const { clock, connection, incarnation, routers } = this.#options;
    const known = routers();
    for (const gone of this.#dead) if (!known.has(gone)) this.#dead.delete(gone);
    if (connection.isClosed() || clock.monotonicMs() < this.#notBeforeMs) return;
    const others = [...known].filter((each) => each !== incarnation && !this.#asked.has(each));
    for (const each of others.slice(0, ROUTERS_MAX)) void this.#ask(each);
  }

  /** Never rejects. An answer that is not plain says nothing. */
  async #ask(router: string): Promise<void> {
    const { clock, connection } = this.#options;
    this.#asked.add(router);
    const askedAtMs = clock.monotonicMs();
    try {
      await connection.request(routerSubject(router), undefined, { timeout: ANSWER_MS });
      this.#dead.delete(router);
      this.#unheard.delete(router);
    } catch (error) {
      if (isUnheard(error)) this.#noteUnheard(router, askedAtMs);
      else this.#unheard.delete(router);
    } finally {
      this.#asked.delete(router);
    }
  }

  #noteUnheard(router: string, askedAtMs: number): void {
    const firstAtMs = this.#unheard.get(router);
    if (firstAtMs === undefined) {
      this.#unheard.set(router, askedAtMs);
    } else if (askedAtMs - firstAtMs >= LOOK_MS - 1) {
      this.#unheard.delete(router);
      if (!this.#dead.has(router)) this.#options.onDead(router);
      this.#dead.add(router);
    }
  }
}

/** Below the inboxes of routers and nowhere else. */
function answer(message: Msg): void {
  if (replyFault(message.reply, ROUTER_INBOX) === null) message.respond();
}

const isUnheard = (error: unknown): boolean =>
  error instanceof NoRespondersError || (error instanceof RequestError && error.cause instanceof NoRespondersError);
