export { HOST_LIST, type HostAnswer } from './host-answers.js';
export { hostCommand } from './host-command.js';
