import { parseConfig } from '@berth/lifecycle';
import type { Argv } from 'yargs';
import { readLogConfig } from '../config.js';
import { PacedOutput, type Command } from '../program/index.js';
import { readLogRequest } from './log-request.js';
import { runLog } from './run-log.js';

/** `berth log ENDPOINT` */
export const logCommand: Command = (run) => ({
  command: 'log <endpoint>',
  describe: 'Print the log of an endpoint’s jobs, batch by batch, and say whether it is whole',
  builder: options,
  handler: (parsed) =>
    run(parsed, async (_, { environment, onInterrupt, streams }) => {
      const request = readLogRequest(parsed);
      const config = parseConfig(environment, readLogConfig);
      const over = new AbortController();
      // What follows a log has an end that somebody wants to read; every other command is ended at once, as ever.
      if (request.kind === 'show' && request.isFollowing) onInterrupt(() => over.abort());
      const output = new PacedOutput(streams.stdout, over.signal);
      return runLog({ request, config, output, signal: over.signal });
    }),
});

const options = (parser: Argv): Argv =>
  parser
    .positional('endpoint', { type: 'string', demandOption: true, describe: 'Id of the endpoint' })
    .option('job', { type: 'string', requiresArg: true, describe: 'The facts of the job of this id only' })
    .option('after', { type: 'string', requiresArg: true, describe: 'What lies behind this sequence only' })
    .option('follow', { type: 'boolean', describe: 'Go on with what comes, until Ctrl-C' })
    .option('payloads', {
      type: 'boolean',
      describe: 'Inputs, outputs, errors and log lines as text; else only their sizes',
    })
    .option('json', { type: 'boolean', describe: 'One JSON object a line' })
    .option('check', {
      type: 'boolean',
      describe: 'No facts: everything that is not as it must be, and what the log adds up to',
    })
    .option('skip', {
      type: 'string',
      requiresArg: true,
      describe: 'Say what would be lost without the entry of this sequence, the last one, where it cannot be read',
    })
    .option('confirm', {
      type: 'string',
      requiresArg: true,
      describe: 'With --skip: remove it. The sequence again; BERTH_ROUTER_SEED is the key of a router',
    });
