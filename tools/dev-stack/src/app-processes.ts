import type { StackPorts } from './stack-ports.js';

/** A program of ours. */
export type AppName = 'management-api' | 'controllers' | 'job-router' | 'worker-agent';

/** Counted from 2: `job-router-2`, `job-router-3`, …; the first is `job-router`. */
export type FurtherRouterName = `job-router-${number}`;

/** Name of a process that runs a program of ours, in `dev.json` and of its log and pid file. */
export type AppProcessName = AppName | FurtherRouterName;

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

export interface AppProcesses {
  readonly managementApi: AppProcess;
  readonly controllers: AppProcess;
  readonly routers: readonly RouterProcess[];
  readonly workerAgent: AppProcess;
}

/** They share the shards of the logs among them: with more, some would own none. */
export const ROUTERS_MAX = 16;

const routerName = (index: number): AppProcessName => (index === 0 ? 'job-router' : `job-router-${index + 1}`);

/** Which processes of ours run at these ports. */
export function appProcesses({ managementApi, operations, routers }: StackPorts): AppProcesses {
  const single = (app: Exclude<AppName, 'job-router'>, httpPort: number | null): AppProcess => ({
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
      name: routerName(index),
      httpPort: ports.http,
      operationsPort: ports.operations,
    })),
    workerAgent: single('worker-agent', null),
  };
}

/** All names that there can be: the last start may have had more routers than this one. */
export const APP_PROCESS_NAMES: readonly AppProcessName[] = [
  'management-api',
  'controllers',
  ...Array.from({ length: ROUTERS_MAX }, (_, index) => routerName(index)),
  'worker-agent',
];
