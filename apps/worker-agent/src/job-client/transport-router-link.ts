import {
  jobSubject,
  readStopMessage,
  stopSubject,
  withdrawSubject,
  type StopMessage,
  type TakeRequest,
  type WithdrawMessage,
} from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { AgentTransport } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { AskOptions, JobCalls, RouterLink } from './router-link.port.js';

/**
 * The routers over NATS: any one that listens answers. Takes that were held when the connection was lost are ended once
 * it is back, by the routers that still hold them or else here, so that no worker waits for an answer that cannot come.
 */
export class TransportRouterLink implements RouterLink {
  readonly #transport: AgentTransport;
  readonly #hostId: HostId;
  readonly #log: Logger;
  readonly #takes = new Set<TakeRequest>();

  constructor(transport: AgentTransport, hostId: HostId, log: Logger) {
    this.#transport = transport;
    this.#hostId = hostId;
    this.#log = log;
    transport.onBack(() => {
      this.#withdrawTakes();
    });
  }

  async ask<Verb extends keyof JobCalls>(
    verb: Verb,
    request: JobCalls[Verb][0],
    options: AskOptions,
  ): Promise<JobCalls[Verb][1]> {
    if (verb === 'take') this.#takes.add(request as TakeRequest);
    try {
      return await this.#transport.request(jobSubject(this.#hostId, verb), request, options);
    } finally {
      if (verb === 'take') this.#takes.delete(request as TakeRequest);
    }
  }

  withdraw(message: WithdrawMessage): void {
    this.#transport.tell(withdrawSubject(this.#hostId), message);
  }

  onStop(listener: (message: StopMessage) => void): () => void {
    const hear = (body: unknown): void => {
      listener(readStopMessage(body));
    };
    return this.#transport.listen(stopSubject(this.#hostId), hear, (error) => {
      // The next renewal says the same, later.
      this.#log.warn('A stop message could not be read.', { error });
    });
  }

  #withdrawTakes(): void {
    try {
      for (const { endpointId, workerId } of this.#takes) this.withdraw({ endpointId, workerId });
    } catch (error) {
      this.#log.debug('Open takes could not be withdrawn; they end by themselves.', { error });
    }
  }
}
