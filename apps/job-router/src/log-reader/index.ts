export { Output } from './output.js';
export { runLogTool } from './run-log-tool.js';
export { EXIT } from './show-log.js';
