export { doctorCommand } from './doctor-command.js';
