#!/usr/bin/env node
import { backupCommand, restoreCommand } from './backup/index.js';
import { doctorCommand } from './doctor/index.js';
import { hostCommand } from './hosts/index.js';
import { initCommand } from './init/index.js';
import { logCommand } from './log/index.js';
import { loadEnvironment } from './config.js';
import { runProgram } from './program/index.js';

const COMMANDS = [initCommand, doctorCommand, hostCommand, logCommand, backupCommand, restoreCommand];

const program = {
  environment: loadEnvironment(),
  streams: { stdout: process.stdout, stderr: process.stderr },
  onInterrupt: (end: () => void): void => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
  },
};

process.exitCode = await runProgram(process.argv.slice(2), COMMANDS, program);
