import type { EndpointId, SessionHealth, WorkerId } from '@berth/domain';

/** Where a load-balanced worker expects requests and health checks, by the variables that its container was started with. */
export interface WorkerListening {
  readonly port: number;
  /** Tried one after the other until one answers well. */
  readonly healthPorts: readonly number[];
  /** As in a request line. */
  readonly healthPath: string;
}

/** A load-balanced worker of this host, as its task sees it. */
export interface BalancedWorker extends WorkerListening {
  readonly workerId: WorkerId;
  readonly endpointId: EndpointId;
  /** Names its present container: what was known of an earlier one is forgotten. */
  readonly containerId: string;
  /** Address that this machine reaches it by; null while it has none. */
  readonly address: string | null;
  readonly slots: number;
  /** An earlier check was good, in this life of the agent or in another. */
  readonly wasReady: boolean;
  /** Its container runs, and neither stands still nor is about to. */
  readonly isAwake: boolean;
  /** It gets nothing new any more. */
  readonly isLeaving: boolean;
}

export interface BalancedWorkerState {
  /** Requests that it has, those that are being connected included. */
  readonly inFlight: number;
  readonly finishedRequests: number;
  /** Unix ms at which its last request ended; null: it has had none in this agent's life. */
  readonly lastRequestEndedAtMs: number | null;
  readonly health: SessionHealth;
  readonly isHealthy: boolean;
  /** Where its checks were answered last; null: nowhere yet. */
  readonly healthPort: number | null;
}

/** `requests`: one began or ended. `health`: its checks show something else than before. */
export type BalancedNews = 'requests' | 'health';

/** The load-balanced workers of this host, as their tasks see them. */
export interface BalancedWorkers {
  /** Takes in how a worker is now; repeating it is harmless. */
  see(worker: BalancedWorker): void;
  /** Cuts off what is in flight. */
  cut(workerId: WorkerId): void;
  /** Its container is gone: cuts off what is in flight and forgets what is known of it. */
  forget(workerId: WorkerId): void;
  /** Null of one that was not seen. */
  state(workerId: WorkerId): BalancedWorkerState | null;
  /** Listeners must not throw. Returns the function that ends it. */
  subscribe(listener: (workerId: WorkerId, news: BalancedNews) => void): () => void;
}
