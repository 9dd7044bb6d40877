export { RATES_SUBJECTS, ratesSubject, type RateNews, type RatesMessage } from './rates-message.js';
export { readRates } from './read-rates.js';
