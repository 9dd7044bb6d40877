export { initCommand } from './init-command.js';
