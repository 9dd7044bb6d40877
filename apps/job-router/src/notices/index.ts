export { NatsJobNotices } from './nats-job-notices.js';
export { NatsWatcherNotices } from './nats-watcher-notices.js';
