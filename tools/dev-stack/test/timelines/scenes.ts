import { count, type Moment, type Scene } from './timeline.js';

export const UP = ['IDLE', 'RUNNING'];

export const workersUp = (wanted: number): Scene => ({
  what: `${wanted} workers up`,
  is: (moment) => count(moment, ...UP) === wanted && moment.workers.length === wanted,
});

export const jobsRun = (wanted: number): Scene => ({
  what: `${wanted} jobs that run`,
  is: ({ inProgress }) => inProgress === wanted,
});

export const jobsWait: Scene = { what: 'jobs that wait', is: ({ queued }) => queued > 0 };

export const everyJobDone = (ids: readonly string[]): Scene => ({
  what: 'every job done',
  is: ({ completed }) => completed === ids.length,
});

/** Workers of this release, as many as are wanted, and no others. */
export const onlyRelease = (release: number, wanted: number): Scene => ({
  what: 'only new workers',
  is: (moment) => count(moment, ...UP) === wanted && moment.workers.every(({ version }) => version === release),
});

export const nothingLeft: Scene = {
  what: 'no workers and no jobs',
  is: ({ inProgress, queued, workers }) => workers.length + queued + inProgress === 0,
};

export const mostWorkers = (moments: readonly Moment[]): number =>
  Math.max(...moments.map(({ workers }) => workers.length));
