export { CommandError, misuse } from './command-error.js';
export { EXIT_STATUS, type CommandStatus } from './exit.js';
export { type ToldOutcome } from './output.js';
export { PacedOutput } from './paced-output.js';
export { printableJson } from './printable-json.js';
export { runProgram, type Command } from './run-program.js';
