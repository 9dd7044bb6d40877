export { CALLER_CONTROLLERS, RouterModule } from './router.module.js';
