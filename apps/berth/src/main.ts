#!/usr/bin/env node
import { initCommand } from './init/index.js';
import { loadEnvironment } from './config.js';
import { runProgram } from './program/index.js';

const program = { environment: loadEnvironment(), streams: { stdout: process.stdout, stderr: process.stderr } };

process.exitCode = await runProgram(process.argv.slice(2), [initCommand], program);
