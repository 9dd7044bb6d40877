import {
  encodeJson,
  type AttemptProof,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type StopOrder,
  type WorkerId,
} from '@berth/domain';
import type { Network } from './asking.js';
import { freeze, IDLE, type LogWorld, type SimulatedProcess } from './log-world.js';
import type { Answer } from './told-answers.js';

interface HeldAttempt {
  readonly proof: AttemptProof;
  readonly endpointId: EndpointId;
  confirmedAtMs: number;
}

const COMMAND_LIVES_MS = 10_000;
const RENEWAL_MS = 5_000;
/** Without a confirmed renewal for this long the host stops what it runs, and says so. */
const TRUST_MS = 25_000;
/** A host that stood still within this time is not well: it has not renewed for a while, and a lease may end behind it. */
const WELL_AFTER_MS = 40_000;
const RUN_MAX_MS = 25_000;

/** A host: it takes, renews, shows progress, finishes, gives up, lets go; it dies and freezes as a whole. */
export class HostProcess {
  readonly process: SimulatedProcess;
  readonly #world: LogWorld;
  readonly #network: Network;
  readonly #endpoints: readonly EndpointId[];
  readonly #held = new Map<string, HeldAttempt>();
  readonly #givingBack = new Set<string>();
  /** When it was not well. */
  readonly #spells: { readonly fromMs: number; readonly untilMs: number }[] = [];
  #count = 0;
  isBusy = true;

  constructor(options: {
    readonly world: LogWorld;
    readonly process: SimulatedProcess;
    readonly network: Network;
    readonly endpoints: readonly EndpointId[];
  }) {
    this.process = options.process;
    this.#world = options.world;
    this.#network = options.network;
    this.#endpoints = options.endpoints;
    this.#takeLater();
    this.#renewLater();
  }

  /** Holding that attempt without a doubt, and well at that instant, which may be long ago. */
  isHeld(token: string, atMs: number): boolean {
    const wasUnwell = this.#spells.some(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
    return this.process.isAlive && !wasUnwell && (this.#held.has(token) || this.#givingBack.has(token));
  }

  freeze(ms: number): void {
    freeze(this.process, this.#world.nowMs + ms);
    this.#spells.push({ fromMs: this.#world.nowMs, untilMs: this.process.frozenUntilMs + WELL_AFTER_MS });
  }

  /** Everything that runs on it is gone. It comes back with nothing. */
  restart(): void {
    this.#held.clear();
    this.#givingBack.clear();
  }

  stop({ attempt, jobId, token }: StopOrder): void {
    const held = this.#held.get(token);
    if (held === undefined) return;
    this.#held.delete(token);
    const agoMs = this.#world.random.integer(0, 2_000);
    this.#tell(held, { kind: 'let-go', ...held.proof, jobId, attempt, agoMs, logTail: [] });
  }

  #takeLater(): void {
    const { random } = this.#world;
    this.#world.post(this.process, random.integer(300, this.isBusy ? 5_000 : 20_000), () => {
      if (this.#held.size > 4) this.#takeLater();
      else this.#take(random.pick(this.#endpoints));
      return IDLE;
    });
  }

  #take(endpointId: EndpointId): void {
    const { nowMs, random } = this.#world;
    this.#count += 1;
    const name = `${this.process.name}-${this.#count}`;
    const hostId = this.process.name as HostId;
    const wish = { takeId: name, hostId, workerId: 'w' as WorkerId, slots: random.integer(1, 3), secret: `s-${name}` };
    this.#network.ask({
      ...{ from: this.process, endpointId, untilMs: nowMs + COMMAND_LIVES_MS },
      question: { kind: 'command', command: { kind: 'take', sentAtMs: nowMs, wishes: [wish] } },
      onAnswer: (answer) => {
        this.#takeLater();
        if (answer.kind !== 'takes') return;
        // What comes too late is given back: it may be somebody else's by now.
        const isLate = this.#world.nowMs - nowMs > 2 * COMMAND_LIVES_MS;
        for (const given of answer.takes[0]?.jobs ?? []) this.#hold({ ...given, hostId }, endpointId, isLate);
      },
      onGivenUp: () => this.#takeLater(),
    });
  }

  #hold(proof: AttemptProof, endpointId: EndpointId, isLate: boolean): void {
    const { nowMs, random } = this.#world;
    const held: HeldAttempt = { proof, endpointId, confirmedAtMs: nowMs };
    if (isLate) {
      this.#giveBack(held);
      return;
    }
    this.#held.set(proof.token, held);
    this.#renew();
    if (random.chance(0.3)) this.#world.post(this.process, random.integer(100, 8_000), () => this.#progress(held));
    const runMs = random.chance(0.6) ? random.integer(50, 3_000) : random.integer(3_000, RUN_MAX_MS);
    if (random.chance(0.95)) this.#world.post(this.process, runMs, () => this.#end(held));
  }

  #end(held: HeldAttempt): void {
    const { random } = this.#world;
    if (this.#held.get(held.proof.token) !== held) return;
    const dice = random.fraction();
    const state = dice < 0.6 ? 'COMPLETED' : dice < 0.85 ? 'FAILED' : 'TIMED_OUT';
    const text = 'x'.repeat(random.chance(0.2) ? 300 : 2);
    const shown = { output: { kind: 'inline', json: encodeJson(text) }, outputBytes: text.length + 2 } as const;
    const ending = { chunks: 0, logTail: [], error: state === 'COMPLETED' ? null : 'boom' };
    if (random.chance(0.08)) {
      this.#tell(held, { kind: 'give-up', ...held.proof, ...GIVEN_UP, reason: 'crashed', isCharged: true });
    } else if (random.chance(0.05)) this.#giveBack(held);
    else this.#tell(held, { kind: 'finish', ...held.proof, state, ...ending, ...shown });
  }

  #giveBack(held: HeldAttempt): void {
    this.#givingBack.add(held.proof.token);
    this.#tell(held, { kind: 'give-up', ...held.proof, ...GIVEN_UP, reason: 'given back', isCharged: false });
  }

  #progress(held: HeldAttempt): void {
    const { proof, endpointId } = held;
    if (this.#held.get(proof.token) !== held) return;
    const text = 'p'.repeat(this.#world.random.chance(0.3) ? 300 : 3);
    const shown = { output: { kind: 'inline', json: encodeJson(text) }, outputBytes: text.length + 2 } as const;
    const question = { kind: 'command', command: { kind: 'progress', ...proof, ...shown } } as const;
    const untilMs = this.#world.nowMs + 3_000;
    this.#network.ask({ from: this.process, endpointId, question, untilMs, onAnswer: () => undefined });
  }

  /** Said again until it is answered; until then the attempt is held. */
  #tell(held: HeldAttempt, command: EndpointCommand): void {
    this.#network.ask({
      ...{ from: this.process, endpointId: held.endpointId, question: { kind: 'command', command } },
      untilMs: Number.POSITIVE_INFINITY,
      onAnswer: () => {
        this.#givingBack.delete(held.proof.token);
        if (this.#held.get(held.proof.token) === held) this.#held.delete(held.proof.token);
      },
    });
  }

  #renewLater(): void {
    this.#world.post(this.process, RENEWAL_MS, () => {
      this.#renew();
      this.#renewLater();
      return IDLE;
    });
  }

  #renew(): void {
    const { nowMs } = this.#world;
    for (const endpointId of this.#endpoints) {
      const own = [...this.#held.values()].filter((held) => held.endpointId === endpointId);
      for (const held of own) if (nowMs - held.confirmedAtMs > TRUST_MS) this.#distrust(held);
      const proofs = own.map(({ proof }) => proof);
      if (proofs.length === 0) continue;
      const onAnswer = (answer: Answer): void => this.#renewed(own, answer, nowMs);
      const question = { kind: 'renew', proofs } as const;
      this.#network.ask({ from: this.process, endpointId, question, untilMs: nowMs + RENEWAL_MS - 500, onAnswer });
    }
  }

  #distrust(held: HeldAttempt): void {
    this.#held.delete(held.proof.token);
    this.#giveBack(held);
  }

  #renewed(own: readonly HeldAttempt[], answer: Answer, sentAtMs: number): void {
    if (answer.kind !== 'renewals') return;
    for (const [at, held] of own.entries()) {
      if (answer.outcomes[at] === 'lost') this.#held.delete(held.proof.token);
      else held.confirmedAtMs = Math.max(held.confirmedAtMs, sentAtMs);
    }
  }
}

const GIVEN_UP = { logTail: [], fraction: 0.5 } as const;
