export { ProblemPagesService } from './problem-pages-service.js';
export { ProblemsController } from './problems.controller.js';
