export type MetricType = 'counter' | 'gauge' | 'histogram';

const NAME = /^berth(_[a-z0-9]+)+$/;

/** Words for units that are no base units: a dashboard adds what is in seconds and bytes, and needs no table for it. */
const OTHER_UNITS = /_(ms|millis|milliseconds|us|ns|minutes|hours|days|kb|kib|mb|mib|gb|gib|bits|percent)(_|$)/;

/** What is wrong with the name of a metric; null: nothing. The rules are those of Prometheus, and a prefix of ours. */
export function faultOfName(type: MetricType, name: string): string | null {
  if (!NAME.test(name)) return 'begins with berth_ and has small letters, digits and single underscores';
  if (OTHER_UNITS.test(name)) return 'is in base units: seconds, bytes, ratio';
  const isTotal = name.endsWith('_total');
  switch (type) {
    case 'counter':
      return isTotal ? null : 'ends in _total, being a counter';
    case 'gauge':
      return isTotal ? 'ends in _total, and is a gauge' : null;
    case 'histogram':
      return /_(seconds|bytes)$/.test(name) ? null : 'ends in its unit, _seconds or _bytes';
    default:
      return type satisfies never;
  }
}
