import { cleanText, isFrozen, type ContainerState } from '@berth/domain';
import type { ContainerRuntime, OwnedContainer } from '../runtimes/index.js';
import { cleanLines } from '../worker-logs/index.js';

const LAST_LINES = 5;
const LAST_LINES_MAX_CHARS = 800;
const DETAIL_CHARACTERS_MAX = 500;

/** The runtime's container as the plan sees it; a container that ended comes with its last words. */
export async function viewContainer(runtime: ContainerRuntime, found: OwnedContainer | null): Promise<ContainerState> {
  if (found === null) return { kind: 'absent' };
  if (found.state.kind === 'created') return { kind: 'absent', leftoverId: found.containerId };
  const { containerId, state } = found;
  if (state.kind !== 'ended') {
    const { labels, notes = [], startedAtMs } = found;
    return {
      ...{ kind: 'running', containerId, startedAtMs: startedAtMs ?? 0 },
      ...standingOf(found),
      ...(labels.imageDigest === undefined ? {} : { imageDigest: labels.imageDigest }),
      ...(notes.length === 0 ? {} : { notes }),
    };
  }
  const { code, cause, detail } = state.exit;
  const lines = cleanLines(await runtime.logs(found.labels.workerId, LAST_LINES));
  const lastOutput = lines.join(' | ').slice(-LAST_LINES_MAX_CHARS).toWellFormed();
  // The plan says the exit code itself.
  const reason = cause === 'exited' ? '' : cleanText(detail, DETAIL_CHARACTERS_MAX);
  return { kind: 'exited', containerId, exitCode: code, reason, lastOutput, isEvicted: cause === 'evicted' };
}

const standingOf = ({ isTakenAway = false, state }: OwnedContainer): { isPaused?: true; isTakenAway?: true } => ({
  ...(state.kind === 'paused' ? { isPaused: true } : {}),
  ...(isTakenAway ? { isTakenAway } : {}),
});

/** Changes when what the reconciler has to know of the container does. */
export function keyOf(container: ContainerState): string {
  if (container.kind === 'absent') return 'absent';
  return `${isFrozen({ container }) ? 'paused' : container.kind} ${container.containerId}`;
}
