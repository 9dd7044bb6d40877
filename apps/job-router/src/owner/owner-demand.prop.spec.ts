import { DEMAND_STALE_MS, toldDemands, type DemandMessage } from '@berth/contracts';
import { NO_DEMAND, ToldDemands, type Demand, type EndpointId, type OwnedDemand, type ToldDemand } from '@berth/domain';
import type { DemandSource } from '@berth/endpoint-log';
import { ManualClock, SeededRandom } from '@berth/testing';
import { test } from '@jest/globals';
import fc from 'fast-check';
import { COMPLETE_INTERVAL_MS, DEBOUNCE_MS, OwnerDemand } from './owner-demand.js';

const SHARDS = 3;
const ENDPOINTS = 9;
const STEP_MS = DEBOUNCE_MS;
const STORY_MS = 40_000;
const CALM_AFTER_MS = 30_000;
/** A shard that changes hands is nobody's for at most so long, and its new owner knows its endpoints so long after that. */
const GAP_MAX_MS = 3_000;
const INDEX_MAX_MS = 1_000;
/** Below `DEMAND_STALE_MS` together with the two, as it is where the word of a former owner bridges a change of hands. */
const DELAY_MAX_MS = 4_000;
const CHANGED_WITHIN_MS = GAP_MAX_MS + INDEX_MAX_MS;
/** From one look of the publisher to the next but one. */
const LOOKS_MS = 2 * STEP_MS;

const idOf = (endpoint: number): EndpointId => `e${endpoint}` as EndpointId;
const shardOf = (endpointId: EndpointId): number => Number(endpointId.slice(1)) % SHARDS;
const endpointsOf = (shard: number): readonly EndpointId[] =>
  Array.from({ length: ENDPOINTS }, (_, at) => idOf(at)).filter((id) => shardOf(id) === shard);

/** The jobs as they are, and since when any waits. */
class Truth {
  readonly #waiting = new Map<EndpointId, { readonly count: number; readonly sinceMs: number }>();

  submit(id: EndpointId, nowMs: number): void {
    const { count = 0, sinceMs = nowMs } = this.#waiting.get(id) ?? {};
    this.#waiting.set(id, { count: count + 1, sinceMs });
  }

  end(id: EndpointId): void {
    this.#waiting.delete(id);
  }

  demandOf(id: EndpointId): Demand {
    return { ...NO_DEMAND, queuedNormal: this.#waiting.get(id)?.count ?? 0 };
  }

  waitsSinceMs(id: EndpointId): number | null {
    return this.#waiting.get(id)?.sinceMs ?? null;
  }
}

/** The shards of one router: of each its term, and from when on its endpoints are known. */
class OwnedShards implements DemandSource {
  readonly #truth: Truth;
  readonly #nowMs: () => number;
  readonly #owned = new Map<number, { readonly term: number; readonly wholeAtMs: number }>();
  readonly #changed = new Map<number, Set<EndpointId>>();

  constructor(truth: Truth, nowMs: () => number) {
    this.#truth = truth;
    this.#nowMs = nowMs;
  }

  own(shard: number, term: number, wholeAtMs: number): void {
    this.#owned.set(shard, { term, wholeAtMs });
    this.#changed.set(shard, new Set());
  }

  lose(shard: number): void {
    this.#owned.delete(shard);
  }

  /** Since when the router can tell of the shard; null: it cannot. */
  wholeSinceMs(shard: number): number | null {
    const { wholeAtMs = Number.POSITIVE_INFINITY } = this.#owned.get(shard) ?? {};
    return wholeAtMs <= this.#nowMs() ? wholeAtMs : null;
  }

  /** False: the shard is somebody else's, and nobody can submit here. */
  change(id: EndpointId, change: () => void): boolean {
    if (!this.#owned.has(shardOf(id))) return false;
    change();
    this.#changed.get(shardOf(id))?.add(id);
    return true;
  }

  ownedShards(): readonly { readonly shard: number; readonly term: number }[] {
    const whole = [...this.#owned].filter(([, { wholeAtMs }]) => wholeAtMs <= this.#nowMs());
    return whole.map(([shard, { term }]) => ({ shard, term }));
  }

  takeChanged(): readonly OwnedDemand[] {
    return this.ownedShards().map(({ shard, term }) => {
      const ids = [...(this.#changed.get(shard) ?? [])];
      this.#changed.get(shard)?.clear();
      return { shard, term, demands: new Map(ids.map((id) => [id, this.#truth.demandOf(id)])) };
    });
  }

  takeAll(shard: number): OwnedDemand | null {
    const owned = this.ownedShards().find((each) => each.shard === shard);
    if (owned === undefined) return null;
    this.#changed.get(shard)?.clear();
    const demanding = endpointsOf(shard).filter((id) => this.#truth.demandOf(id).queuedNormal > 0);
    return { ...owned, demands: new Map(demanding.map((id) => [id, this.#truth.demandOf(id)])) };
  }
}

/** A message on its way, and of how many before it. */
interface Sent {
  readonly text: string;
  readonly order: number;
  readonly dueMs: number;
}

/** A way on which messages stay in order, however long each takes. */
class Way {
  readonly #under: Sent[] = [];
  #lastDueMs = 0;

  send(message: DemandMessage, order: number, dueMs: number): void {
    this.#lastDueMs = Math.max(this.#lastDueMs, dueMs);
    this.#under.push({ text: JSON.stringify(message), order, dueMs: this.#lastDueMs });
  }

  arrived(nowMs: number): readonly Sent[] {
    const count = this.#under.findIndex(({ dueMs }) => dueMs > nowMs);
    return this.#under.splice(0, count === -1 ? this.#under.length : count);
  }
}

/** Of all that has arrived, what was said last of each endpoint, whoever has said it. */
class LastWords {
  readonly #words = new Map<EndpointId, { readonly order: number; readonly queued: number }>();

  note({ demands, part, shard }: ToldDemand, order: number): void {
    for (const [id, demand] of demands) this.#noteOne(id, order, demand?.queuedNormal ?? 0);
    if (part === null) return;
    for (const id of endpointsOf(shard)) if (!demands.has(id)) this.#noteOne(id, order, 0);
  }

  of(id: EndpointId): number | null {
    return this.#words.get(id)?.queued ?? null;
  }

  #noteOne(id: EndpointId, order: number, queued: number): void {
    if ((this.#words.get(id)?.order ?? 0) <= order) this.#words.set(id, { order, queued });
  }
}

interface Story {
  readonly seed: number;
  /** Shards change hands so long after they last did, at the earliest. */
  readonly restMs: number;
  readonly delayMs: number;
}

/** Two routers with the real publisher, between which shards move, and who hears them. Throws where a job is denied. */
async function play({ delayMs, restMs, seed }: Story): Promise<void> {
  const [clock, random, truth] = [new ManualClock(), new SeededRandom(seed), new Truth()];
  const chance = (ofSteps: number): boolean => random.fraction() < 1 / ofSteps;
  const upTo = (max: number): number => Math.floor(random.fraction() * max);
  const nowMs = (): number => clock.monotonicMs();
  const [demands, lastWords] = [new ToldDemands(DEMAND_STALE_MS), new LastWords()];
  let order = 0;
  const routers = ['one', 'two'].map((routerId) => {
    const [way, shards] = [new Way(), new OwnedShards(truth, nowMs)];
    const publish = (message: DemandMessage): void => way.send(message, ++order, nowMs() + upTo(delayMs));
    new OwnerDemand({ source: shards, publish, clock, routerId, atEndOfTurn: (run) => run() }).start();
    return { way, shards };
  });
  const moves = Array.from({ length: SHARDS }, () => ({
    term: 1,
    owner: 0,
    freeUntilMs: 0,
    nextAtMs: nowMs() + upTo(restMs),
  }));
  const startMs = nowMs();
  for (const shard of moves.keys()) routers[0]!.shards.own(shard, 1, startMs);
  for (let at = 0; at < STORY_MS; at += STEP_MS) {
    for (const [shard, move] of moves.entries()) {
      if (move.freeUntilMs > 0 && move.freeUntilMs <= nowMs()) {
        routers[move.owner]!.shards.own(shard, move.term, nowMs() + upTo(INDEX_MAX_MS));
        move.freeUntilMs = 0;
      } else if (move.freeUntilMs === 0 && at < CALM_AFTER_MS && nowMs() >= move.nextAtMs) {
        routers[move.owner]!.shards.lose(shard);
        const freeUntilMs = nowMs() + 1 + upTo(GAP_MAX_MS);
        const nextAtMs = freeUntilMs + INDEX_MAX_MS + 2 * STEP_MS + upTo(restMs);
        Object.assign(move, { term: move.term + 1, owner: upTo(routers.length), freeUntilMs, nextAtMs });
      }
    }
    for (const id of Array.from({ length: ENDPOINTS }, (_, each) => idOf(each))) {
      const happens = (change: () => void): boolean => routers.some(({ shards }) => shards.change(id, change));
      if (chance(40)) happens(() => truth.submit(id, nowMs()));
      if (chance(200)) happens(() => truth.end(id));
    }
    await clock.advance(STEP_MS);
    for (const { way } of routers) {
      for (const arrived of way.arrived(nowMs())) {
        for (const told of toldDemands(JSON.parse(arrived.text) as DemandMessage, shardOf)) {
          demands.hear(told, nowMs());
          lastWords.note(told, arrived.order);
        }
      }
    }
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) check(idOf(endpoint), at);
  }

  function check(id: EndpointId, at: number): void {
    const said = demands.demandOf({ endpointId: id, shard: shardOf(id), type: 'QUEUE' }, nowMs())?.queuedNormal ?? null;
    const fault = (what: string): Error => new Error(`${id} after ${at} ms: ${what}`);
    if (said !== null && said !== lastWords.of(id)) throw fault(`${said}, where ${lastWords.of(id)} was said last`);
    const sinceMs = truth.waitsSinceMs(id);
    const wholeSinceMs = routers.map(({ shards }) => shards.wholeSinceMs(shardOf(id))).find((each) => each !== null);
    const toldByMs =
      wholeSinceMs === undefined ? (sinceMs ?? 0) + CHANGED_WITHIN_MS : Math.max(sinceMs ?? 0, wholeSinceMs ?? 0);
    const isDenied = said === 0 && sinceMs !== null && nowMs() > toldByMs + LOOKS_MS + delayMs;
    if (isDenied) throw fault(`none, where jobs wait for ${nowMs() - sinceMs} ms`);
    const isCalm = at > CALM_AFTER_MS + CHANGED_WITHIN_MS + LOOKS_MS + delayMs + COMPLETE_INTERVAL_MS;
    if (isCalm && said === null) throw fault('nothing is known, though nothing changes hands any more');
  }
}

test('no job that waits is denied for longer than it takes to tell of it, while two routers hand shards to each other', async () => {
  const story = fc.record({
    seed: fc.nat(),
    restMs: fc.integer({ min: STEP_MS, max: 10_000 }),
    delayMs: fc.integer({ min: 1, max: DELAY_MAX_MS }),
  });
  await fc.assert(fc.asyncProperty(story, play), { numRuns: 60 });
});
