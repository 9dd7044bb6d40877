import { makeWorkerUtils } from 'graphile-worker';
import { Pool } from 'pg';
import { serveFront } from './front.js';

/** Accepts jobs into graphile-worker and tells how many have ended: a job that has ended is gone. */
const [, , databaseUrl = ''] = process.argv;
const pool = new Pool({ connectionString: databaseUrl });
const fail = (error: Error): never => {
  throw error;
};
pool.on('error', fail);
pool.on('connect', (client) => client.on('error', fail));
const jobs = await makeWorkerUtils({ pgPool: pool });
await jobs.migrate();
let added = 0;

await serveFront({
  add: async (body) => {
    added += 1;
    return (await jobs.addJob('job', body)).id;
  },
  completed: async () => {
    const { rows } = await pool.query<{ left: string }>('SELECT count(*) AS left FROM graphile_worker.jobs');
    return added - Number(rows[0]?.left ?? 0);
  },
  close: async () => {
    await jobs.release();
    await pool.end();
  },
});
