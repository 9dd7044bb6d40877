import { PORT_MAX } from '../units/index.js';
import { ENDPOINT_DEFAULTS } from './defaults.js';

/** Where a worker of a load-balanced endpoint listens, inside its own network. */
export interface WorkerPorts {
  /** For requests. */
  readonly port: number;
  /** For health checks; may be the same. */
  readonly healthPort: number;
}

/** By the variables that it is started with. A value that is no port counts as not set. */
export const workerPorts = (env: Readonly<Record<string, string>>): WorkerPorts => ({
  port: portIn(env['PORT']),
  healthPort: portIn(env['PORT_HEALTH']),
});

/**
 * Where health checks are tried, in this order: a worker that is told its port, and nothing of health checks, may expect
 * those on port 80 or on its own (wire contract 4).
 */
export function healthCheckPorts(env: Readonly<Record<string, string>>): readonly number[] {
  const { port, healthPort } = workerPorts(env);
  const isSaid = (env['PORT_HEALTH'] ?? '') !== '';
  return isSaid || port === healthPort ? [healthPort] : [healthPort, port];
}

function portIn(text = ''): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= PORT_MAX ? port : ENDPOINT_DEFAULTS.port;
}
