import type { NatsClusterFixture } from '@berth/testing';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { openBrokerAt } from '../open-broker.js';

const FAULT_WITHIN_MS = 60_000;

/** What befalls three brokers, each over when they all stand again or as it says. */
export class ClusterFaults {
  readonly #nats: NatsClusterFixture;
  /** One connection to each, so that there is one to ask whoever is away. */
  readonly #brokers = new Map<number, Broker>();

  constructor(nats: NatsClusterFixture) {
    this.#nats = nats;
  }

  async open(): Promise<void> {
    for (const [place, { url }] of this.#nats.cluster.servers.entries()) {
      this.#brokers.set(place, await openBrokerAt(url, { timeoutMs: 1_000 }));
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#brokers.values()].map(({ connection }) => connection.close()));
  }

  /** Where the stream's leader is, by the word of a server other than `besides`. */
  leaderOf(stream: string, besides?: number): Promise<number> {
    return eventually(
      async () => {
        const [, asked] = [...this.#brokers].find(([place]) => place !== besides) ?? [];
        const info = await asked?.manager.streams.info(stream);
        const leader = /^server-(\d)$/.exec(info?.cluster?.leader ?? '')?.[1];
        expect(leader).toBeDefined();
        return Number(leader);
      },
      { deadlineMs: FAULT_WITHIN_MS },
    );
  }

  /** The stream's leader hands over to another one. */
  async stepDown(stream: string): Promise<void> {
    const before = await this.leaderOf(stream);
    await this.#brokers.get(before)?.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`);
    await this.#anotherLeader(stream, before);
  }

  /** The server of the stream's leader stands still until another one leads, and then goes on as if nothing had been. */
  async freeze(stream: string, meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const frozen = await this.leaderOf(stream);
    this.#signal(frozen, 'SIGSTOP');
    try {
      await this.#anotherLeader(stream, frozen);
      await meanwhile();
    } finally {
      this.#signal(frozen, 'SIGCONT');
    }
  }

  /** The server of the stream's leader dies, or ends in good order, and comes back when another one leads. */
  async restart(stream: string, how: 'kill' | 'stop'): Promise<void> {
    const dead = await this.leaderOf(stream);
    await this.#nats.cluster.servers[dead]?.[how]();
    await this.#anotherLeader(stream, dead);
    await this.#nats.cluster.startAgain(dead);
  }

  /** All die at once. */
  async restartAll(): Promise<void> {
    await this.#nats.cluster.kill();
    await Promise.all([...this.#brokers.keys()].map((place) => this.#nats.cluster.startAgain(place)));
  }

  #signal(place: number, signal: NodeJS.Signals): void {
    const server = this.#nats.cluster.servers[place];
    if (server !== undefined) process.kill(server.pid, signal);
  }

  async #anotherLeader(stream: string, before: number): Promise<void> {
    await eventually(async () => expect(await this.leaderOf(stream, before)).not.toBe(before), {
      deadlineMs: FAULT_WITHIN_MS,
    });
  }
}
