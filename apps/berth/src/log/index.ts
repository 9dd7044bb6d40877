export { logCommand } from './log-command.js';
