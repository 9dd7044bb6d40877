export { backupCommand, restoreCommand } from './backup-command.js';
