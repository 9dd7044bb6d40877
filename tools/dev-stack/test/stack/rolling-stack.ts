import { allocatePorts, type ServerProcess } from '@berth/servers';
import { waitUntilHealthy, type InstalledStack } from './installed-stack.js';

/** A process of ours that is restarted in its place. */
type PlaceName = 'management-api' | 'controllers' | 'job-router-1' | 'job-router-2';

interface Place {
  readonly program: 'management-api' | 'controllers' | 'job-router';
  readonly settings: Readonly<Record<string, string>>;
}

interface Running {
  readonly server: ServerProcess;
  readonly url: string;
}

/** How long a router goes on once it has said that it leaves. */
const DRAIN = { BERTH_DRAIN_DELAY_MS: '500' };

/** The processes of an installation, restarted one after the other as its pages say. */
export class RollingStack {
  readonly #stack: InstalledStack;
  readonly #places: Readonly<Record<PlaceName, Place>>;
  readonly #running = new Map<PlaceName, Running>();
  /** Of routers that answer. */
  readonly #runUrls = new Map<PlaceName, string>();

  private constructor(stack: InstalledStack, places: Readonly<Record<PlaceName, Place>>) {
    this.#stack = stack;
    this.#places = places;
  }

  static async start(stack: InstalledStack): Promise<RollingStack> {
    const reserved = await allocatePorts(1);
    const [second = 0] = reserved.ports;
    await reserved.release();
    const router = (port: number): Place => ({
      program: 'job-router',
      settings: { BERTH_HTTP_PORT: String(port), ...DRAIN },
    });
    const api = { BERTH_HTTP_PORT: String(stack.ports.api), ...DRAIN };
    const rolling = new RollingStack(stack, {
      'management-api': { program: 'management-api', settings: api },
      controllers: { program: 'controllers', settings: {} },
      'job-router-1': router(stack.ports.router),
      'job-router-2': router(second),
    });
    for (const name of Object.keys(rolling.#places) as PlaceName[]) await rolling.#start(name);
    await Promise.all(
      [...rolling.#running.values()].map(({ server, url }) => waitUntilHealthy({ server, url: `${url}/readyz` })),
    );
    return rolling;
  }

  /** Where routers answer that have not said that they leave. */
  get runUrls(): readonly string[] {
    return [...this.#runUrls.values()];
  }

  get operationsUrls(): readonly string[] {
    return [...this.#running.values()].map(({ url }) => url);
  }

  /** One after the other, each once the one before is ready. */
  async restart(...names: readonly PlaceName[]): Promise<void> {
    for (const name of names) {
      // Whoever stands before routers has heard that it leaves when it stops to listen.
      this.#runUrls.delete(name);
      await this.#running.get(name)?.server.stop();
      const { server, url } = await this.#start(name);
      await waitUntilHealthy({ server, url: `${url}/readyz` });
    }
  }

  /** One after the other, each once all streams of the one before are there again. */
  async restartBrokers(): Promise<void> {
    for (const at of this.#stack.brokerHosts.keys()) {
      await this.#stack.stopBroker(at);
      await this.#stack.startBroker(at);
    }
  }

  async #start(name: PlaceName): Promise<Running> {
    const { program, settings } = this.#places[name];
    const running = await this.#stack.start(program, settings, name);
    this.#running.set(name, running);
    if (program === 'job-router') this.#runUrls.set(name, `http://127.0.0.1:${settings['BERTH_HTTP_PORT'] ?? ''}`);
    return running;
  }
}
