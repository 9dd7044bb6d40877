import { fileURLToPath } from 'node:url';
import type { DesiredWorker } from '@berth/contracts';
import type { WorkerId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { AgentProgram } from './agent-program.js';
import type { Ended } from './bridge/fake-router.js';
import { TestControlPlane } from './control-plane.js';
import { assigned } from './worker-bench.js';

export const EXAMPLES = fileURLToPath(new URL('../../../examples/workers', import.meta.url));
export const TEST_TIMEOUT_MS = 240_000;
const WAIT = { deadlineMs: 120_000 };

export interface AgentBench {
  readonly control: TestControlPlane;
  /** The agent's home; a new one for every test. */
  readonly home: string;
  /** A client of the broker of its own. */
  connect(): Promise<NatsConnection>;
  /** Starts an agent on the home with these settings besides. */
  start(settings: Readonly<Record<string, string>>): AgentProgram;
  /** Puts a job into the queue; returns its id. */
  submit(input: object): string;
  /** What became of the job. */
  endOf(jobId: string): Promise<Ended>;
  /** Waits until the control plane has heard of that phase. */
  phase(workerId: WorkerId, wanted: string): Promise<void>;
}

/** Call once at the top of a spec: a broker, a control plane and a router, and agents as processes of their own. */
export function useAgents(): AgentBench {
  const nats = useNatsServer();
  const newFolder = useTempFolders();
  const control = new TestControlPlane();
  let agents: AgentProgram[] = [];
  let home = '';

  beforeAll(async () => {
    control.serve(await nats.connect());
  });
  beforeEach(async () => {
    control.reset();
    home = await newFolder();
    agents = [];
  });
  afterEach(() => Promise.all(agents.map((agent) => agent.end('SIGKILL'))), TEST_TIMEOUT_MS);
  afterAll(() => {
    control.router.close();
  });

  const outputs = (): string => agents.map(({ output }) => output).join('\n');
  return {
    control,
    get home() {
      return home;
    },
    connect: () => nats.connect(),
    start: (settings) => {
      const token = 'bjt_host1_abcdefghijklmnopqrst';
      const agent = new AgentProgram({
        BERTH_NATS_URL: nats.server.url,
        BERTH_HOME: home,
        BERTH_JOIN_TOKEN: token,
        ...settings,
      });
      agents.push(agent);
      return agent;
    },
    submit: (input) => control.router.submit({ input: JSON.stringify(input) as never, endpointId: 'endpoint1' }),
    endOf: (jobId) =>
      eventually(() => {
        const ended = control.router.ended.get(jobId);
        if (ended === undefined) throw new Error(`${jobId} is ${control.router.stateOf(jobId)}; ${outputs()}`);
        return ended;
      }, WAIT),
    phase: (workerId, wanted) =>
      eventually(() => {
        const observed = control.observed(workerId);
        if (observed?.phase === 'unhealthy' && wanted !== 'unhealthy') throw new Error(observed.reason);
        expect(observed?.phase).toBe(wanted);
      }, WAIT),
  };
}

/** A worker of one of the examples. */
export function exampleWorker(workerId: WorkerId, image: string, args = ''): DesiredWorker {
  const worker = assigned(workerId);
  return { ...worker, container: { ...worker.container, image, args } };
}
