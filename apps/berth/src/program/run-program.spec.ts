import { ConfigError } from '@berth/lifecycle';
import { describe, expect, test } from '@jest/globals';
import { saidStreams } from '../../test/said-streams.js';
import { misuse } from './command-error.js';
import { EXIT_STATUS, type CommandStatus } from './exit.js';
import { runProgram, type Command } from './run-program.js';

const command =
  (work: () => Promise<CommandStatus>): Command =>
  (run) => ({
    command: 'look <what>',
    describe: 'Look at something',
    handler: (parsed) =>
      run(parsed, async (output) => {
        const status = await work();
        output.say({ json: { seen: true }, lines: ['seen'] });
        return status;
      }),
  });

async function runWith(
  args: readonly string[],
  work = (): Promise<CommandStatus> => Promise.resolve(EXIT_STATUS.done),
) {
  const { said, streams } = saidStreams();
  const status = await runProgram(args, [command(work)], { environment: {}, streams, onInterrupt: () => undefined });
  return { status, ...said };
}

describe('the command', () => {
  test('says its outcome in lines, or as JSON', async () => {
    expect(await runWith(['look', 'it'])).toEqual({ status: 0, stdout: 'seen\n', stderr: '' });
    const json = await runWith(['look', 'it', '--json']);
    expect(JSON.parse(json.stdout)).toEqual({ seen: true });
  });

  test('ends with what its work says', async () => {
    expect(await runWith(['look', 'it'], () => Promise.resolve(EXIT_STATUS.failed))).toMatchObject({ status: 1 });
  });

  test.each([[[]], [['dance']], [['look']], [['look', 'it', '--loud']]])(
    '%j is misuse, with a word on help',
    async (args) => {
      const { status, stderr, stdout } = await runWith(args);
      expect({ status, stdout }).toEqual({ status: EXIT_STATUS.misused, stdout: '' });
      expect(stderr).toContain('berth --help');
      expect(stderr).not.toContain('    at ');
    },
  );

  test('says what failed and what to do, without a stack', async () => {
    const { status, stderr } = await runWith(['look', 'it'], () =>
      Promise.reject(misuse('It is gone.', 'Bring it back.')),
    );
    expect({ status, stderr }).toEqual({
      status: EXIT_STATUS.misused,
      stderr: 'berth: It is gone.\n  Bring it back.\n',
    });
  });

  test('names bad settings', async () => {
    const { status, stderr } = await runWith(['look', 'it'], () =>
      Promise.reject(new ConfigError(['BERTH_X is missing'])),
    );
    expect(status).toBe(EXIT_STATUS.misused);
    expect(stderr).toContain('BERTH_X is missing');
  });

  test('shows where an error that no one has foreseen came from', async () => {
    const { status, stderr } = await runWith(['look', 'it'], () => Promise.reject(new Error('odd')));
    expect(status).toBe(EXIT_STATUS.failed);
    expect(stderr).toMatch(/should not have happened: Error: odd\n {4}at /);
  });

  test('helps', async () => {
    expect((await runWith(['--help'])).stdout).toContain('Look at something');
    expect((await runWith(['completion'])).stdout).toContain('berth completion');
  });
});
