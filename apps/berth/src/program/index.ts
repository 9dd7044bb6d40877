export { CommandError, misuse } from './command-error.js';
export { EXIT_STATUS, type CommandStatus } from './exit.js';
export { type ToldOutcome } from './output.js';
export { runProgram, type Command } from './run-program.js';
