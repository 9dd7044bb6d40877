import { baseUrl, loadBalancerDomain, localUrl, runUrl, type StackFacts } from './app-environment.js';
import { appProcesses, type AppProcess } from './app-processes.js';
import type { DevFile } from './dev-file.js';

/** What is known of a stack only once it runs. */
export interface RunningStack {
  readonly pids: DevFile['processes'];
  /** What this machine is to the control plane. */
  readonly hostId: string;
  /** ISO 8601, UTC. */
  readonly readyAt: string;
}

/** What `dev.json` says. `runUrl` is the first router's: callers who know of one address alone are served there. */
export function describeStack(facts: StackFacts, { hostId, pids, readyAt }: RunningStack): DevFile {
  const { databaseUrl, natsUrl, ports, runtime, secrets } = facts;
  const { controllers, managementApi, routers, workerAgent } = appProcesses(ports);
  const pidOf = ({ name }: AppProcess): number => {
    const pid = pids[name];
    if (pid === undefined) throw new Error(`${name} has not been started`);
    return pid;
  };
  return {
    baseUrl: baseUrl(ports),
    runUrl: runUrl(ports),
    loadBalancerDomain: loadBalancerDomain(ports),
    apiKey: secrets.apiKey,
    runtime,
    databaseUrl,
    natsUrl,
    readyAt,
    routers: routers.map((router) => ({ runUrl: localUrl(router.httpPort), pid: pidOf(router) })),
    agents: [{ hostId, pid: pidOf(workerAgent) }],
    processes: pids,
    operations: Object.fromEntries(
      [managementApi, controllers, ...routers, workerAgent].map((each) => [each.name, operationsUrl(each)]),
    ),
  };
}

/** Base address of `/healthz`, `/readyz` and `/metrics`. */
export const operationsUrl = ({ operationsPort }: AppProcess): string => localUrl(operationsPort);
