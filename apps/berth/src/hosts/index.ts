export { hostCommand } from './host-command.js';
