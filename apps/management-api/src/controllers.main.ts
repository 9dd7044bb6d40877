import 'reflect-metadata';
import { runMain } from '@berth/telemetry';
import { loadControllersConfig, startControllers } from './reconcilers/index.js';

await runMain('controllers', (main) => startControllers(loadControllersConfig(), main));
