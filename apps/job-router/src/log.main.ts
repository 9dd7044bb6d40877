import { loadLogConfig } from './config.js';
import { EXIT, Output, runLogTool } from './log-reader/index.js';

const args = process.argv.slice(2);
const over = new AbortController();
const { signal } = over;

// A command that follows a log has an end that somebody wants to read; every other command is ended at once, as ever.
const onFollow = (): void => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => over.abort());
};

const complain = (text: string): void => void process.stderr.write(`log: ${text}\n`);

try {
  const output = new Output(process.stdout);
  process.exitCode = await runLogTool({ args, loadConfig: loadLogConfig, output, complain, signal, onFollow });
} catch (error) {
  complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = EXIT.unknown;
}
