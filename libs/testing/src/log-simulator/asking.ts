import type { EndpointId } from '@berth/domain';
import { IDLE, type LogWorld, type SimulatedProcess } from './log-world.js';
import type { OwnerProcess } from './owner-process.js';
import type { Answer, Question } from './told-answers.js';

export interface Asking {
  readonly from: SimulatedProcess;
  readonly endpointId: EndpointId;
  readonly question: Question;
  /** When it is given up; infinite: never. */
  readonly untilMs: number;
  readonly onAnswer: (answer: Answer) => void;
  readonly onGivenUp?: () => void;
}

const HOP_MAX_MS = 10;
const AGAIN_MIN_MS = 400;
const AGAIN_MAX_MS = 2_500;

/** The network between callers and owners: it loses and repeats, and asks again until there is an answer. */
export class Network {
  readonly #world: LogWorld;
  readonly #owners: readonly OwnerProcess[];
  /** Share of all messages that are lost; as many come twice. */
  lostShare = 0;
  /** Questions that nobody has answered yet, by when they were asked. */
  readonly open = new Map<Asking, number>();
  answered = 0;

  constructor(world: LogWorld, owners: readonly OwnerProcess[]) {
    this.#world = world;
    this.#owners = owners;
  }

  ask(asking: Asking): void {
    this.open.set(asking, this.#world.nowMs);
    this.#again(asking);
  }

  #again(asking: Asking): typeof IDLE {
    const { random } = this.#world;
    if (!this.open.has(asking)) return IDLE;
    if (this.#world.nowMs > asking.untilMs) {
      this.open.delete(asking);
      asking.onGivenUp?.();
      return IDLE;
    }
    this.#send(asking);
    if (random.chance(this.lostShare)) this.#send(asking);
    this.#world.post(asking.from, random.integer(AGAIN_MIN_MS, AGAIN_MAX_MS), () => this.#again(asking));
    return IDLE;
  }

  #send(asking: Asking): void {
    const { outside, random } = this.#world;
    // Each process that believes itself the owner may answer; the first answer counts.
    for (const owner of this.#owners) {
      if (!owner.hears(asking.endpointId) || random.chance(this.lostShare)) continue;
      this.#world.post(owner.process, random.integer(1, HOP_MAX_MS), () => {
        owner.receive(asking.endpointId, asking.question, (answer) => {
          if (random.chance(this.lostShare)) return;
          this.#world.post(outside, random.integer(1, HOP_MAX_MS), () => this.#answer(asking, answer));
        });
      });
    }
  }

  #answer(asking: Asking, answer: Answer): void {
    // "Dropped" tells nobody anything.
    if (answer.kind === 'dropped' || !asking.from.isAlive || !this.open.delete(asking)) return;
    this.answered += 1;
    this.#world.post(asking.from, 0, () => asking.onAnswer(answer));
  }
}
