export { loadControllersConfig } from './config.js';
export { startControllers } from './start-controllers.js';
