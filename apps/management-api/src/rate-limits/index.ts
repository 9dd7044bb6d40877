export { AccountRateLimiter } from './account-rate-limiter.js';
export { type RateQuotas, RateWindowsStore } from './rate-windows.store.js';
