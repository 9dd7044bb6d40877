import type { HostId } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { AgentConnection, AgentConnections } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { HostSessionsMetrics, HostSessionsStore } from '../host-sessions/index.js';

export interface HostCutOffOptions {
  readonly connections: Pick<AgentConnections, 'pages' | 'end'>;
  readonly store: Pick<HostSessionsStore, 'removed'>;
  readonly metrics: Pick<HostSessionsMetrics, 'cutOffs' | 'cutOffFailures'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 5_000;

/**
 * Ends the connections of removed hosts. Level-triggered: what is connected is compared with the rows, so it does not
 * matter which process removed a host, or whether it lived long enough to tell. Any number of processes may do it.
 */
export class HostCutOff {
  readonly #options: HostCutOffOptions;
  readonly #loop: ControlLoop;

  constructor(options: HostCutOffOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'host.cut-off',
      intervalMs: INTERVAL_MS,
      clock: options.clock,
      onError: (name, error) => {
        options.logger.warn(`control loop ${name} failed; it runs again`, { error });
      },
      run: (signal) => this.#pass(signal),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Asks for a pass now, for when a host has just been removed. */
  hurry(): void {
    this.#loop.hurry();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { connections, store } = this.#options;
    const gone: AgentConnection[] = [];
    for await (const page of connections.pages()) {
      if (signal.aborted) return;
      const hosts = new Set<HostId>(await store.removed([...new Set(page.map(({ user }) => user))]));
      gone.push(...page.filter(({ user }) => hosts.has(user)));
    }
    // Once all is read: pages are counted from the first connection, so one that ends would hide another.
    for (const connection of gone) await this.#end(connection);
  }

  /** One that stays must not keep the others. */
  async #end(connection: AgentConnection): Promise<void> {
    const { connections, logger, metrics } = this.#options;
    const hostId = connection.user;
    try {
      await connections.end(connection);
      metrics.cutOffs.inc();
      logger.info('the connection of a removed host was ended', { hostId });
    } catch (error) {
      metrics.cutOffFailures.inc();
      logger.warn('the connection of a removed host could not be ended; it is tried again', { hostId, error });
    }
  }
}
