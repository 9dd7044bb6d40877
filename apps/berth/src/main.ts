#!/usr/bin/env node
import { loadEnvironment } from './config.js';
import { runProgram, type Command } from './program/index.js';

/** A command's modules, and what those need, are read only where the command is named, or all are. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['init', async () => (await import('./init/index.js')).initCommand],
  ['doctor', async () => (await import('./doctor/index.js')).doctorCommand],
  ['host', async () => (await import('./hosts/index.js')).hostCommand],
  ['log', async () => (await import('./log/index.js')).logCommand],
  ['backup', async () => (await import('./backup/index.js')).backupCommand],
  ['restore', async () => (await import('./backup/index.js')).restoreCommand],
]);

const program = {
  environment: loadEnvironment(),
  streams: { stdout: process.stdout, stderr: process.stderr },
  onInterrupt: (end: () => void): void => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
  },
};

const args = process.argv.slice(2);
const named = COMMANDS.get(args[0] ?? '');
const commands = await Promise.all((named === undefined ? [...COMMANDS.values()] : [named]).map((load) => load()));
process.exitCode = await runProgram(args, commands, program);
