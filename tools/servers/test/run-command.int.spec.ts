import { describe, expect, test } from '@jest/globals';
import { CommandError, runCommand } from '../src/index.js';

describe('a command', () => {
  test('returns what it printed', async () => {
    await expect(runCommand('/bin/sh', ['-c', 'echo said; echo aside >&2'], { timeoutMs: 5_000 })).resolves.toBe(
      'said\n',
    );
  });

  test('that fails says how, and what it complained of', async () => {
    const failed = runCommand('/bin/sh', ['-c', 'echo the reason >&2; exit 3'], { timeoutMs: 5_000 });
    await expect(failed).rejects.toThrow(new CommandError('/bin/sh ended with code 3: the reason'));
  });

  test('that takes too long is killed', async () => {
    const late = runCommand('sleep', ['600'], { timeoutMs: 50 });
    await expect(late).rejects.toThrow(/sleep ended with SIGKILL/);
  });

  test('that does not exist is an error at once', async () => {
    await expect(runCommand('/nowhere/at-all', [], { timeoutMs: 600_000 })).rejects.toThrow(/could not be started/);
  });
});
