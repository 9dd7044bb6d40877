export { RATES_SUBJECTS, ratesSubject, type RateNews, type RatesMessage } from './rates-message.js';
export { readRates } from './read-rates.js';
export {
  REQUEST_COUNTS_SUBJECTS,
  readRequestCounts,
  requestCountsSubject,
  type RequestCountsMessage,
} from './request-counts-message.js';
