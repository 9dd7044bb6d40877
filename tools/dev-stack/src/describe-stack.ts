import { baseUrl, loadBalancerDomain, localUrl, runUrl, type StackFacts } from './app-environment.js';
import { appProcesses, type AppProcess, type AppProcessName } from './app-processes.js';
import type { DevFile } from './dev-file.js';

/** One host that this machine stands for. */
export interface DescribedHost {
  readonly name: AppProcessName;
  readonly hostId: string;
  readonly operationsUrl: string;
}

/** What is known of a stack only once it runs. */
export interface RunningStack {
  readonly pids: DevFile['processes'];
  /** In the order of their agents' names. */
  readonly hosts: readonly DescribedHost[];
  /** ISO 8601, UTC. */
  readonly readyAt: string;
}

/** What `dev.json` says. `runUrl` is the first router's: callers who know of one address alone are served there. */
export function describeStack(facts: StackFacts, { hosts, pids, readyAt }: RunningStack): DevFile {
  const { databaseUrl, natsUrl, ports, runtime, secrets } = facts;
  const { controllers, managementApi, routers } = appProcesses(ports);
  const pidOf = (name: AppProcessName): number => {
    const pid = pids[name];
    if (pid === undefined) throw new Error(`${name} has not been started`);
    return pid;
  };
  const services = [managementApi, controllers, ...routers];
  return {
    baseUrl: baseUrl(ports),
    runUrl: runUrl(ports),
    loadBalancerDomain: loadBalancerDomain(ports),
    apiKey: secrets.apiKey,
    runtime,
    databaseUrl,
    natsUrl,
    readyAt,
    routers: routers.map(({ httpPort, name }) => ({ runUrl: localUrl(httpPort), pid: pidOf(name) })),
    agents: hosts.map(({ hostId, name }) => ({ hostId, pid: pidOf(name) })),
    processes: pids,
    operations: Object.fromEntries([
      ...services.map((each): [string, string] => [each.name, operationsUrl(each)]),
      ...hosts.map(({ name, operationsUrl: url }): [string, string] => [name, url]),
    ]),
  };
}

/** Base address of `/healthz`, `/readyz` and `/metrics` of a process in this machine's own network. */
export const operationsUrl = ({ operationsPort }: AppProcess): string => localUrl(operationsPort);
