export { runChange, useOf, type RunChange } from './run-change.js';
