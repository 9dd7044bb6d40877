import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids that every line of one piece of work carries. */
export interface LogContext {
  readonly requestId?: string;
  readonly traceId?: string;
  readonly accountId?: string;
  readonly endpointId?: string;
  readonly jobId?: string;
  readonly workerId?: string;
  readonly hostId?: string;
}

/** Mutable inside only: an id that becomes known later joins the work that already runs. */
type Store = { -readonly [Name in keyof LogContext]: LogContext[Name] };

const storage = new AsyncLocalStorage<Store>();

/** Runs `action`, and all that it awaits, with these ids added to those already known. */
export const runWithLogContext = <T>(context: LogContext, action: () => T): T =>
  storage.run({ ...storage.getStore(), ...context }, action);

/** Adds ids to the work that runs now; without one it does nothing. */
export function addToLogContext(context: LogContext): void {
  const store = storage.getStore();
  if (store !== undefined) Object.assign(store, context);
}

export const currentLogContext = (): LogContext => storage.getStore() ?? {};
