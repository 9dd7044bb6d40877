import { healthCheckPath, healthCheckPorts, workerPorts, type WorkerId, type WorkerPorts } from '@berth/domain';
import type { WorkerListening } from './balanced-worker.js';
import type { FreePorts } from './free-ports.js';

type Variables = Readonly<Record<string, string>>;

/** By the variables of its endpoint, where it has ports of its own. */
export const listeningBy = (env: Variables): WorkerListening => ({
  port: workerPorts(env).port,
  healthPorts: healthCheckPorts(env),
  healthPath: healthCheckPath(env),
});

/**
 * Where a worker is to listen that shares its ports with others; null where none are free. It is told one for requests and
 * another for health checks, unless its endpoint says that both are the same; checks are tried on the first as well, for
 * many workers answer them there.
 */
export async function listeningOnFree(
  workerId: WorkerId,
  env: Variables,
  ports: FreePorts,
): Promise<WorkerListening | null> {
  const isOne = (env['PORT'] ?? '') !== '' && env['PORT'] === env['PORT_HEALTH'];
  const taken = await ports.take(workerId, isOne ? 1 : 2);
  if (taken === null) return null;
  const [port = 0, healthPort = port] = taken;
  const healthPorts = isOne ? [port] : [healthPort, port];
  return { port, healthPorts, healthPath: healthCheckPath(env) };
}

/** What its program is told, over what its endpoint says. */
export const portVariables = (listens: WorkerListening): Variables => {
  const { healthPort, port } = portsOf(listens);
  return { PORT: String(port), PORT_HEALTH: String(healthPort) };
};

/**
 * As they are reported.
 *
 * @param answeredOn where its health checks are answered; null while that is not known, and the first place is told
 */
export const portsOf = ({ healthPorts, port }: WorkerListening, answeredOn: number | null = null): WorkerPorts => ({
  port,
  healthPort: healthPorts.find((each) => each === answeredOn) ?? healthPorts[0] ?? port,
});
