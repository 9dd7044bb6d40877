import 'reflect-metadata';
import { runMain } from '@berth/telemetry';
import { startControllers } from './reconcilers/start-controllers.js';
import { loadControllersConfig } from './reconcilers/config.js';

await runMain('controllers', (main) => startControllers(loadControllersConfig(), main));
