import { hostname } from 'node:os';
import { join } from 'node:path';
import { agentEnvironment, localUrl, type AppEnvironment, type StackFacts } from './app-environment.js';
import type { AgentProcess } from './app-processes.js';
import type { DescribedHost } from './describe-stack.js';
import { ensureHost, type LocalHost } from './ensure-host.js';
import type { HostNetwork } from './host-networks/index.js';
import type { StackClient } from './management-client.js';

/** One host that this machine stands for, and how its agent is started. */
export class LocalAgent {
  readonly process: AgentProcess;
  readonly #home: string;
  readonly #hostName: string;
  readonly #network: HostNetwork | undefined;
  #host: LocalHost | null = null;

  /** @param index from 0: the first has the machine's own name and the home that stacks of one host have always had */
  constructor(agent: AgentProcess, index: number, place: { readonly home: string; readonly network?: HostNetwork }) {
    const suffix = index === 0 ? '' : `-${index + 1}`;
    this.process = agent;
    this.#home = join(place.home, `agent${suffix}`);
    this.#hostName = `${hostname()}${suffix}`;
    this.#network = place.network;
  }

  /** Base address of its `/healthz`, `/readyz` and `/metrics`. */
  get operationsUrl(): string {
    const { operationsPort } = this.process;
    return this.#network === undefined
      ? localUrl(operationsPort)
      : `http://${this.#network.hostAddress}:${operationsPort}`;
  }

  /** Null until it is known which host it is. */
  describe(): DescribedHost | null {
    const { name } = this.process;
    return this.#host === null ? null : { name, hostId: this.#host.hostId, operationsUrl: this.operationsUrl };
  }

  /** The first start of a home joins a new host; later ones find its identity on disk. */
  async identify(client: StackClient, baseUrl: string): Promise<string> {
    this.#host = await ensureHost(client, baseUrl, { home: this.#home, name: this.#hostName });
    return this.#host.hostId;
  }

  /** What comes before the program and its arguments: it runs in its host's network. */
  get wrapper(): readonly string[] {
    return this.#network === undefined ? [] : ['nsenter', `--net=/run/netns/${this.#network.namespace}`];
  }

  environment(facts: StackFacts, inherited: AppEnvironment): AppEnvironment {
    const token = this.#host?.token ?? null;
    return {
      ...agentEnvironment(this.process, { facts, home: this.#home, inherited, network: this.#network }),
      ...(token !== null && { BERTH_JOIN_TOKEN: token }),
    };
  }
}
