export { SERIES_MAX } from './choose-series.js';
export { OTHER_ENDPOINTS, readQueues, type QueueSeries } from './queue-series.js';
export { SeriesRoom } from './series-room.js';
