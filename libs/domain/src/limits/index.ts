export {
  countRequest,
  longestSpent,
  windowStartMs,
  windowState,
  type Window,
  type WindowLimit,
  type WindowState,
  type WindowUse,
} from './windows.js';
