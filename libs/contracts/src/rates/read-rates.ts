import { isJobOperation } from '@berth/domain';
import { count, listOf, objectOf, readShape, text, type Reading } from '@berth/domain/shape';
import { readJson } from '../wire/read-json.js';
import type { RateNews, RatesMessage } from './rates-message.js';

/** More than the endpoints and operations that one router counts between two messages. */
const NEWS_MAX = 1_000_000;

const rates = objectOf<RatesMessage>({
  routerId: text(),
  news: listOf(
    objectOf<RateNews>({ endpointId: text(), operation: text(), admitted: count, inFlight: count }),
    NEWS_MAX,
  ),
});

/** Reads the counts of another router; an operation that this version does not know is left out. */
export function readRates(body: string): Reading<RatesMessage> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const reading = readShape<RatesMessage>(rates, json.value);
  if (reading.kind === 'unreadable') return reading;
  const { news, routerId } = reading.value;
  return { kind: 'value', value: { routerId, news: news.filter(({ operation }) => isJobOperation(operation)) } };
}
