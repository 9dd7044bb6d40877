export { startControllers } from './compose.js';
export { loadControllersConfig } from './config.js';
