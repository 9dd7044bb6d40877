import type { ContainerState } from '@berth/domain';
import type { ContainerExit, ContainerRuntime, OwnedContainer } from '../runtimes/container-runtime.port.js';

const LAST_LINES = 5;
const LAST_LINES_MAX_CHARS = 800;

/** The runtime's container as the plan sees it; a container that ended comes with its last words. */
export async function viewContainer(runtime: ContainerRuntime, found: OwnedContainer | null): Promise<ContainerState> {
  if (found === null || found.state.kind === 'created') return { kind: 'absent' };
  const { containerId, state } = found;
  if (state.kind === 'running') return { kind: 'running', containerId, startedAtMs: found.startedAtMs ?? 0 };
  const lines = await runtime.logs(found.labels.workerId, LAST_LINES);
  return { kind: 'exited', containerId, exitCode: state.exit.code, reason: describeEnd(state.exit, lines) };
}

function describeEnd({ cause, detail }: ContainerExit, lines: readonly string[]): string {
  const output = lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' | ');
  // The plan says the exit code itself.
  const parts = [
    cause === 'exited' ? '' : detail,
    output === '' ? '' : `last output: ${output.slice(-LAST_LINES_MAX_CHARS)}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}
