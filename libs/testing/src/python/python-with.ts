import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '@berth/servers';

/** A release of a published Python package, by name and version: `requests==2.34.2`. */
export type PythonRequirement = `${string}==${string}`;

/** Outside the clone, like the base image: another clone has the same. */
const CACHE = join(homedir(), '.cache/berth/python');
const SCRIPT = fileURLToPath(new URL('../../src/python/make-environment.sh', import.meta.url));

/** Time for environments that are not there yet, on a machine that has nothing of them; where they are, it takes none. */
export const PYTHON_SETUP_MS = 600_000;

/**
 * The interpreter of a Python environment that has these packages and what they need. It is made once for each set, and
 * whoever asks for one that another process is making waits for it.
 *
 * @param cache folder that keeps environments; one of this user, for all clones, unless said
 * @throws CommandError with what pip or uv said
 */
export async function pythonWith(
  requirements: readonly [PythonRequirement, ...PythonRequirement[]],
  cache = CACHE,
): Promise<string> {
  return (await runCommand(SCRIPT, [cache, ...requirements], { timeoutMs: PYTHON_SETUP_MS })).trim();
}
