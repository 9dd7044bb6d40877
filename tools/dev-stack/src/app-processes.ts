import type { StackPorts } from './stack-ports.js';

/** A program of ours. */
export type AppName = 'management-api' | 'controllers' | 'job-router' | 'worker-agent';

/** A program of which several processes may run. */
type RepeatedApp = 'job-router' | 'worker-agent';

/** Counted from 2: `job-router-2`, `job-router-3`, …; the first has the name of its program. */
export type FurtherProcessName = `${RepeatedApp}-${number}`;

/** Name of a process that runs a program of ours, in `dev.json` and of its log and pid file. */
export type AppProcessName = AppName | FurtherProcessName;

/** One process of a program of ours. */
export interface AppProcess {
  readonly app: AppName;
  readonly name: AppProcessName;
  /** Where callers reach it; null: no caller does. */
  readonly httpPort: number | null;
  readonly operationsPort: number;
}

interface RouterProcess extends AppProcess {
  readonly httpPort: number;
}

/** The agent of one host. */
export interface AgentProcess extends AppProcess {
  readonly app: 'worker-agent';
  /** Where its workers reach it, on their host. */
  readonly bridgePort: number;
}

export interface AppProcesses {
  readonly managementApi: AppProcess;
  readonly controllers: AppProcess;
  readonly routers: readonly RouterProcess[];
  readonly agents: readonly AgentProcess[];
}

/** They share the shards of the logs among them: with more, some would own none. */
export const ROUTERS_MAX = 16;
/** A machine that stands for more hosts than this tells of nothing but its own want of memory. */
export const HOSTS_MAX = 16;

const nameOf = (app: RepeatedApp, index: number): AppProcessName => (index === 0 ? app : `${app}-${index + 1}`);

/** Which processes of ours run at these ports. */
export function appProcesses({ agents, managementApi, operations, routers }: StackPorts): AppProcesses {
  const single = (app: Exclude<AppName, RepeatedApp>, httpPort: number | null): AppProcess => ({
    app,
    name: app,
    httpPort,
    operationsPort: operations[app],
  });
  return {
    managementApi: single('management-api', managementApi),
    controllers: single('controllers', null),
    routers: routers.map((ports, index) => ({
      app: 'job-router',
      name: nameOf('job-router', index),
      httpPort: ports.http,
      operationsPort: ports.operations,
    })),
    agents: agents.map((ports, index) => ({
      app: 'worker-agent',
      name: nameOf('worker-agent', index),
      httpPort: null,
      operationsPort: ports.operations,
      bridgePort: ports.bridge,
    })),
  };
}

/** All names that there can be: the last start may have had more routers and hosts than this one. */
export const APP_PROCESS_NAMES: readonly AppProcessName[] = [
  'management-api',
  'controllers',
  ...Array.from({ length: ROUTERS_MAX }, (_, index) => nameOf('job-router', index)),
  ...Array.from({ length: HOSTS_MAX }, (_, index) => nameOf('worker-agent', index)),
];
