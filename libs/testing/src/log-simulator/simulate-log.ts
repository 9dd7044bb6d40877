import type { EndpointId, TouchedJob } from '@berth/domain';
import { decodeLines, LogCheck, readLog, type LogBroker, type StoredBatch } from '@berth/endpoint-log';
import { SeededRandom } from '../clock/seeded-random.js';
import { Network } from './asking.js';
import { CallerProcess } from './caller-process.js';
import type { Doctor } from './doctor.js';
import { dumpState } from './dump-state.js';
import { BrokerWeather, FaultyLogBroker, NO_BROKER_FAULTS, type BrokerFaults } from './faulty-log-broker.js';
import { HostProcess } from './host-process.js';
import { lookOf, LogWitness, NOBODY } from './log-witness.js';
import { freeze, LogWorld, newProcess, type SimulatedProcess } from './log-world.js';
import { ModelLogBroker } from './model-log-broker.js';
import { OwnerProcess } from './owner-process.js';
import { SimulatedClaims } from './simulated-claims.js';
import { SKEW_MAX_MS, ToldAnswers } from './told-answers.js';

export interface LogSimulationOptions {
  readonly seed: number;
  readonly doctor?: Doctor;
  /** Receives what happens, line by line: the story of a seed. */
  readonly tell?: (line: string) => void;
}

/** What one run came to. */
export interface LogSimulation {
  readonly seed: number;
  /** Everything that may not be, in the order in which it was seen; empty: nothing. */
  readonly broken: readonly string[];
  readonly facts: number;
  readonly batches: number;
  readonly told: number;
  readonly carries: number;
  readonly terms: number;
  readonly happened: number;
  /** Faults put in, by kind. */
  readonly faults: Readonly<Record<string, number>>;
}

const BROKEN_MAX = 5;
const OWNERS = 3;
const HOSTS = 2;
/** Lists that fill several batches are slow to simulate. */
const LARGE_EVERY = 40;

const BROKER_FAULTS: BrokerFaults = {
  ...{ lost: 0.04, unanswered: 0.04, late: 0.04, twice: 0.05, phantom: 0.02, full: 0.004 },
  ...{ stale: 0.3, unreadable: 0.05, purge: 0.3 },
};

/** One run: everything that owners, callers and hosts do with one or two endpoints' logs, under one seed. */
export async function simulateLog(options: LogSimulationOptions): Promise<LogSimulation> {
  return new Simulation(options).run();
}

interface Storm {
  readonly lastsMs: number;
  /** What callers do. */
  readonly acts: number;
  readonly troubles: number;
}

class Simulation {
  readonly #seed: number;
  readonly #world: LogWorld;
  readonly #doctor: Doctor;
  readonly #tell: ((line: string) => void) | undefined;
  readonly #weather = new BrokerWeather();
  readonly #model: ModelLogBroker;
  readonly #claims: SimulatedClaims;
  readonly #endpoints: readonly EndpointId[];
  readonly #witnesses = new Map<EndpointId, LogWitness>();
  readonly #answers = new Map<EndpointId, ToldAnswers>();
  readonly #owners: readonly OwnerProcess[];
  readonly #network: Network;
  readonly #hosts: readonly HostProcess[];
  readonly #callers: readonly CallerProcess[];
  readonly #broken: string[] = [];
  readonly #isStrict: boolean;
  #batches = 0;
  #sent = 0;

  constructor({ doctor = {}, seed, tell }: LogSimulationOptions) {
    this.#seed = seed;
    this.#doctor = doctor;
    this.#tell = tell;
    this.#world = new LogWorld(new SeededRandom(seed));
    const { random } = this.#world;
    this.#isStrict = random.chance(0.6);
    this.#endpoints = (random.chance(0.3) ? ['e1', 'e2'] : ['e1']) as EndpointId[];
    this.#model = new ModelLogBroker((endpointId, batch) => this.#witness(endpointId, batch));
    this.#model.comparesNothing = doctor.comparesNothing === true;
    this.#claims = new SimulatedClaims(this.#world, {
      isStrict: this.#isStrict,
      isBucketAway: () => this.#weather.bucketAwayUntilMs > this.#world.nowMs,
    });
    for (const endpointId of this.#endpoints) this.#watch(endpointId);
    this.#owners = Array.from({ length: OWNERS }, (_, at) => this.#newOwner(newProcess(`owner-${at}`)));
    this.#network = new Network(this.#world, this.#owners);
    this.#hosts = Array.from({ length: HOSTS }, (_, at) => this.#newHost(newProcess(`host-${at}`)));
    this.#callers = this.#endpoints.map(
      (endpointId) =>
        new CallerProcess({
          ...{ world: this.#world, process: newProcess('caller'), network: this.#network, endpointId },
          isLarge: seed % LARGE_EVERY === 0,
        }),
    );
  }

  async run(): Promise<LogSimulation> {
    try {
      await this.#play();
    } catch (error) {
      this.#report(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    const witnesses = [...this.#witnesses.values()];
    const sum = (of: (witness: LogWitness) => number): number => witnesses.reduce((total, each) => total + of(each), 0);
    return {
      ...{ seed: this.#seed, broken: this.#broken, batches: this.#batches, faults: this.#weather.counts },
      facts: sum(({ mark }) => mark),
      told: [...this.#answers.values()].reduce((total, { told }) => total + told, 0),
      carries: sum(({ carries }) => carries.length),
      terms: sum(({ terms }) => terms),
      happened: this.#world.happened,
    };
  }

  async #play(): Promise<void> {
    const { random } = this.#world;
    this.#claims.begin();
    // Two storms, with a long while between them after which the log is old enough to be carried.
    await this.#storm({ lastsMs: 20_000, acts: random.integer(8, 16), troubles: 3 });
    for (const host of this.#hosts) host.isBusy = false;
    await this.#storm({ lastsMs: random.integer(95_000, 125_000), acts: 2, troubles: 3 });
    for (const host of this.#hosts) host.isBusy = true;
    await this.#storm({ lastsMs: 25_000, acts: random.integer(6, 14), troubles: 3 });
    if (this.#isSound) await this.#calm();
    if (this.#isSound) await this.#compareReplays();
  }

  /** Nothing is learned from what follows on what was broken. */
  get #isSound(): boolean {
    return this.#broken.length === 0;
  }

  async #storm({ acts, lastsMs, troubles }: Storm): Promise<void> {
    const { nowMs, random, outside } = this.#world;
    this.#weather.faults = BROKER_FAULTS;
    this.#network.lostShare = 0.06;
    for (let act = 0; act < acts; act += 1) {
      this.#world.post(outside, random.integer(0, lastsMs), () => random.pick(this.#callers).act());
    }
    for (let at = 0; at < troubles; at += 1) {
      this.#world.post(outside, random.integer(0, lastsMs), () => this.#trouble());
    }
    await this.#world.runUntil(nowMs + lastsMs, () => !this.#isSound);
  }

  #trouble(): void {
    const { random } = this.#world;
    const owner = random.chance(0.8) ? (this.#claims.holder as OwnerProcess | null) : random.pick(this.#owners);
    const what = random.pick(['die', 'freeze', 'freeze', 'leader', 'hand over', 'let go', 'host', 'carry'] as const);
    this.#weather.count(what);
    this.#tell?.(`${this.#world.nowMs} trouble: ${what} ${owner?.process.name}`);
    switch (what) {
      case 'die':
        if (owner !== null) this.#replace(owner);
        // Machines that go take their broker with them, just when somebody else opens what they had.
        if (random.chance(0.2)) {
          this.#world.post(this.#world.outside, random.integer(0, 6_000), () => this.#loseLeader(45_000));
        }
        return;
      case 'freeze':
        if (owner !== null) freeze(owner.process, this.#world.nowMs + random.integer(200, 12_000));
        return;
      case 'leader':
        this.#loseLeader(random.chance(0.1) ? 60_000 : 7_000);
        return;
      case 'hand over':
        if (owner?.process.isAlive === true) owner.handOver();
        return;
      case 'let go':
        owner?.letGo(random.pick(this.#endpoints));
        return;
      case 'host':
        this.#hurtHost(random.pick(this.#hosts));
        return;
      case 'carry':
        for (const endpointId of this.#endpoints) owner?.carry(endpointId);
    }
  }

  #loseLeader(maxMs: number): void {
    if (this.#weather.faults === NO_BROKER_FAULTS) return;
    const untilMs = this.#world.nowMs + this.#world.random.integer(500, maxMs);
    // Each stream has a leader of its own.
    const what = this.#world.random.integer(0, 3);
    if (what !== 0) this.#weather.leaderAwayUntilMs = untilMs;
    if (what !== 1) this.#weather.bucketAwayUntilMs = untilMs;
  }

  /** It dies, and another process starts in its place: nothing of it is left but what is on its way. */
  #replace(owner: OwnerProcess): void {
    if (!owner.process.isAlive) return;
    owner.process.isAlive = false;
    const at = this.#owners.indexOf(owner);
    (this.#owners as OwnerProcess[])[at] = this.#newOwner(newProcess(`${owner.process.name}'`));
  }

  #hurtHost(host: HostProcess): void {
    if (this.#world.random.chance(0.5)) host.restart();
    else host.freeze(this.#world.random.integer(1_000, 45_000));
  }

  /** The faults end: whatever is asked must be answered, soon. */
  async #calm(): Promise<void> {
    this.#weather.faults = NO_BROKER_FAULTS;
    this.#weather.leaderAwayUntilMs = 0;
    this.#weather.bucketAwayUntilMs = 0;
    this.#network.lostShare = 0;
    await this.#world.runUntil(this.#world.nowMs + 15_000, () => !this.#isSound);
    const isDeleting = this.#world.random.chance(0.15);
    if (isDeleting) this.#callers.at(-1)?.delete();
    for (const caller of this.#callers) caller.askAll();
    const askedAtMs = this.#world.nowMs;
    await this.#world.runUntil(askedAtMs + 5_000, () => !this.#isSound);
    if (isDeleting) await this.#deleteAgain();
    for (const [{ question, from }, atMs] of this.#network.open) {
      // Who stood still within these seconds has not had them.
      const wasStill = from.frozenUntilMs > askedAtMs;
      if (atMs <= askedAtMs && !wasStill) this.#report(`nobody has answered ${JSON.stringify(question)} of ${atMs}`);
    }
  }

  /** As a new owner hears it once more, which has the endpoint open. */
  async #deleteAgain(): Promise<void> {
    const { nowMs } = this.#world;
    (this.#claims.holder as OwnerProcess | null)?.handOver();
    this.#callers.at(-1)?.act();
    await this.#world.runUntil(nowMs + 3_000, () => !this.#isSound);
    this.#callers.at(-1)?.delete();
    await this.#world.runUntil(nowMs + 6_000, () => !this.#isSound);
  }

  async #compareReplays(): Promise<void> {
    for (const endpointId of this.#endpoints) {
      const kept = await this.#dump(endpointId, this.#model);
      const whole = await this.#dump(endpointId, this.#model.unpurged());
      if (kept !== whole) this.#report(`the log of ${endpointId} is ${firstDifference(kept, whole)}`);
      for (const broker of [this.#model, this.#model.unpurged()]) await this.#check(endpointId, broker);
    }
  }

  /** An operator's check finds nothing in what owners wrote. */
  async #check(endpointId: EndpointId, broker: LogBroker): Promise<void> {
    const check = new LogCheck();
    for await (const entry of broker.read(endpointId, 0)) check.add(entry);
    for (const finding of check.conclude()) this.#report(`the check of ${endpointId} finds ${JSON.stringify(finding)}`);
  }

  async #dump(endpointId: EndpointId, broker: LogBroker): Promise<string> {
    // The world stands still by now: no process needs to wait.
    const clock = { ...this.#world.clockOf(this.#world.outside, 0), sleep: () => Promise.resolve() };
    const source = { endpointId, broker, clock, atEndOfTurn: (run: () => void) => run() };
    const reading = await readLog(source);
    if (reading.kind === 'broken') {
      this.#report(`the log of ${endpointId} is broken: ${JSON.stringify(reading)}`);
      return '';
    }
    const witnessed = [...(this.#witnesses.get(endpointId)?.jobs.values() ?? [])].filter(
      ({ state }) => state !== NOBODY,
    );
    const looks = (jobs: Iterable<{ jobId: string; state: string; attempt: number; charged: number }>): string =>
      [...jobs]
        .map((job) => `${job.jobId} ${lookOf(job)}`)
        .toSorted()
        .join('; ');
    const read = looks([...reading.state.jobs.values()].map(({ data }) => data));
    if (read !== looks(witnessed)) this.#report(`${endpointId} has ${read} instead of ${looks(witnessed)}`);
    return JSON.stringify(dumpState(reading.state, this.#world.nowMs + SKEW_MAX_MS));
  }

  // --- Making the world ----------------------------------------------------------------------------------------------

  #watch(endpointId: EndpointId): void {
    const report = (broken: string): void => this.#report(`${endpointId}: ${broken}`);
    const isHeld = (hostId: string, token: string, atMs: number): boolean =>
      this.#hosts.some((host) => host.process.name === hostId && host.isHeld(token, atMs));
    const witness = new LogWitness({ report, isHeld });
    this.#witnesses.set(endpointId, witness);
    this.#answers.set(endpointId, new ToldAnswers(witness, { report, areReadsSure: this.#isStrict }));
  }

  #newOwner(process: SimulatedProcess): OwnerProcess {
    const { random } = this.#world;
    const owner = new OwnerProcess({
      ...{ world: this.#world, process, claims: this.#claims, doctor: this.#doctor },
      skewMs: random.integer(-SKEW_MAX_MS, SKEW_MAX_MS),
      connect: (of) =>
        new FaultyLogBroker({ world: this.#world, process: of, model: this.#model, weather: this.#weather }),
      markOf: (endpointId) => this.#witnessOf(endpointId).mark,
      onTold: (endpointId, told) => {
        this.#tell?.(
          `${this.#world.nowMs} ${process.name} ${endpointId} ${JSON.stringify(told.question)} -> ${JSON.stringify(told.answer)}`,
        );
        this.#answers.get(endpointId)?.check(told);
      },
      onTouched: (endpointId, touched) => this.#touched(endpointId, touched),
      report: (broken) => this.#report(broken),
      // A deposed owner that believes otherwise knows of no carrying by the next one.
      isCalm: () => this.#isStrict && this.#weather.faults === NO_BROKER_FAULTS,
      newBatchId: () => `batch-${(this.#sent += 1)}`,
      nextOf: (endpointId, after) => this.#model.history(endpointId).find(({ sequence }) => sequence > after) ?? null,
    });
    this.#claims.add(owner);
    return owner;
  }

  #newHost(process: SimulatedProcess): HostProcess {
    return new HostProcess({ world: this.#world, process, network: this.#network, endpoints: this.#endpoints });
  }

  #witnessOf(endpointId: EndpointId): LogWitness {
    return this.#witnesses.get(endpointId) as LogWitness;
  }

  #witness(endpointId: EndpointId, batch: StoredBatch): void {
    this.#batches += 1;
    const witness = this.#witnessOf(endpointId);
    const facts = decodeLines(batch.facts);
    this.#tell?.(
      `${this.#world.nowMs} ${endpointId} #${batch.sequence} after ${batch.after}: ${facts.map((fact) => JSON.stringify(fact).slice(0, 300)).join('\n    ')}`,
    );
    for (const fact of facts) witness.witness(fact);
    witness.checkIndex(batch.index);
  }

  /** Who watches a job is told of what is in the log, and nothing else. */
  #touched(endpointId: EndpointId, touched: readonly TouchedJob[]): void {
    const witness = this.#witnessOf(endpointId);
    for (const { jobId, now, stop } of touched) {
      const looks = witness.looksSince(jobId, 0);
      const isTrue =
        now === 'moved'
          ? looks.some((look) => look !== NOBODY)
          : now === 'gone'
            ? looks.length > 1 && looks.at(-1) === NOBODY
            : looks.some((look) => /^(COMPLETED|FAILED|CANCELLED|TIMED_OUT)/.test(look));
      if (!isTrue) this.#report(`${jobId} was told as ${now}: it was ${looks.join(' ')}`);
      if (stop === null || this.#world.random.chance(this.#network.lostShare)) continue;
      const host = this.#hosts.find(({ process }) => process.name === stop.hostId);
      if (host !== undefined) this.#world.post(host.process, 5, () => host.stop(stop));
    }
  }

  #report(broken: string): void {
    if (this.#broken.length < BROKEN_MAX) this.#broken.push(`${this.#world.nowMs} ${broken}`);
    this.#tell?.(`${this.#world.nowMs} BROKEN ${broken}`);
  }
}

function firstDifference(kept: string, whole: string): string {
  const [keptLines, wholeLines] = [kept.split(','), whole.split(',')];
  const at = keptLines.findIndex((line, index) => line !== wholeLines[index]);
  const around = (lines: readonly string[]): string => lines.slice(Math.max(0, at - 3), at + 3).join(' ');
  return `${around(keptLines)} instead of ${around(wholeLines)}`;
}
