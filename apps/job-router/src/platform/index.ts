export { isToken, jobKeyFrom, jobNotFound } from './ids.js';
export { arrayText, jsonKindOf, objectText } from './json-text.js';
export { Platform, type RateLimitSettings, type RouterSettings } from './platform.js';
export { literalAddress, WebhookAddresses } from './webhook-addresses.js';
