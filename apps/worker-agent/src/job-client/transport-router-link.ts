import { jobSubject, stopSubject, withdrawSubject, type StopMessage, type WithdrawMessage } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { AgentTransport } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { AskOptions, JobCalls, RouterLink } from './router-link.port.js';

/** The routers over NATS: any one that listens answers. */
export class TransportRouterLink implements RouterLink {
  readonly #transport: AgentTransport;
  readonly #hostId: HostId;
  readonly #log: Logger;

  constructor(transport: AgentTransport, hostId: HostId, log: Logger) {
    this.#transport = transport;
    this.#hostId = hostId;
    this.#log = log;
  }

  ask<Verb extends keyof JobCalls>(
    verb: Verb,
    request: JobCalls[Verb][0],
    options: AskOptions,
  ): Promise<JobCalls[Verb][1]> {
    return this.#transport.request(jobSubject(this.#hostId, verb), request, options);
  }

  withdraw(message: WithdrawMessage): void {
    this.#transport.tell(withdrawSubject(this.#hostId), message);
  }

  onStop(listener: (message: StopMessage) => void): () => void {
    return this.#transport.listen<StopMessage>(stopSubject(this.#hostId), listener, (error) => {
      // The next renewal says the same, later.
      this.#log.warn('A stop message could not be read.', { error });
    });
  }
}
