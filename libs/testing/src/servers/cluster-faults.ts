import { expect } from '@jest/globals';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { eventually } from '../clock/eventually.js';
import type { NatsClusterFixture } from './use-nats-cluster.js';

const FAULT_WITHIN_MS = 120_000;
const ANSWER_MS = 5_000;

interface StreamInfo {
  readonly cluster?: { readonly leader?: string };
}

/** What befalls three brokers, each over when they all stand again or as it says. */
export class ClusterFaults {
  readonly #nats: NatsClusterFixture;
  /** One connection to each, so that there is one to ask, whichever broker is away. */
  readonly #connections = new Map<number, NatsConnection>();

  constructor(nats: NatsClusterFixture) {
    this.#nats = nats;
  }

  async open(): Promise<void> {
    for (const [place, { url }] of this.#nats.cluster.servers.entries()) {
      const own = { servers: url, ignoreClusterUpdates: true, maxReconnectAttempts: -1 };
      this.#connections.set(place, await connect(own));
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }

  /** Where the stream's leader is, by the word of a server other than `besides`. */
  leaderOf(stream: string, besides?: number): Promise<number> {
    return eventually(
      async () => {
        const [asked] = [...this.#connections.keys()].filter((place) => place !== besides);
        const info = await this.#ask<StreamInfo>(asked ?? 0, `INFO.${stream}`);
        const leader = /^server-(\d)$/.exec(info.cluster?.leader ?? '')?.[1];
        expect(leader).toBeDefined();
        return Number(leader);
      },
      { deadlineMs: FAULT_WITHIN_MS },
    );
  }

  /** The stream's leader hands over to another one. */
  async stepDown(stream: string): Promise<void> {
    const before = await this.leaderOf(stream);
    await this.#ask(before, `LEADER.STEPDOWN.${stream}`);
    await this.#anotherLeader(stream, before);
  }

  /** The stream's leader hands over until it is the server of that place. */
  async lead(stream: string, place: number): Promise<void> {
    const placement = { preferred: `server-${String(place)}` };
    await eventually(
      async () => {
        const before = await this.leaderOf(stream);
        if (before !== place) await this.#ask(before, `LEADER.STEPDOWN.${stream}`, { placement });
        expect(await this.leaderOf(stream)).toBe(place);
      },
      { deadlineMs: FAULT_WITHIN_MS },
    );
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

  #signal(place: number, signal: NodeJS.Signals): void {
    const server = this.#nats.cluster.servers[place];
    if (server !== undefined) process.kill(server.pid, signal);
  }

  async #ask<Answer>(place: number, verb: string, question?: object): Promise<Answer> {
    const connection = this.#connections.get(place);
    if (connection === undefined) throw new Error('The connections are there from open on.');
    const body = question === undefined ? '' : JSON.stringify(question);
    return (await connection.request(`$JS.API.STREAM.${verb}`, body, { timeout: ANSWER_MS })).json<Answer>();
  }

  async #anotherLeader(stream: string, before: number): Promise<void> {
    await eventually(async () => expect(await this.leaderOf(stream, before)).not.toBe(before), {
      deadlineMs: FAULT_WITHIN_MS,
    });
  }
}
