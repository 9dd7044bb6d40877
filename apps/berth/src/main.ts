#!/usr/bin/env node
import { backupCommand, restoreCommand } from './backup/index.js';
import { doctorCommand } from './doctor/index.js';
import { hostCommand } from './hosts/index.js';
import { initCommand } from './init/index.js';
import { loadEnvironment } from './config.js';
import { runProgram } from './program/index.js';

const COMMANDS = [initCommand, doctorCommand, hostCommand, backupCommand, restoreCommand];

const program = { environment: loadEnvironment(), streams: { stdout: process.stdout, stderr: process.stderr } };

process.exitCode = await runProgram(process.argv.slice(2), COMMANDS, program);
