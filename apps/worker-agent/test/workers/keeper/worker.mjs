// A worker that keeps what its jobs say in its network volume, for tests of what others find there.
//
// `keep`: a line for the file of all. Answers with every line that is there, and with what it is told of its volume.

import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { env } = process;
const headers = { authorization: env.RUNPOD_AI_API_KEY };
const takeUrl = env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', env.RUNPOD_POD_ID);
const PAUSE_MS = 200;

async function work({ input }) {
  const file = join(env.BERTH_VOLUME_PATH, 'lines');
  await appendFile(file, `${input.keep}\n`);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return { output: { lines, volumeId: env.RUNPOD_VOLUME_ID, path: env.BERTH_VOLUME_PATH } };
}

for (;;) {
  const answer = await fetch(`${takeUrl}&job_in_progress=0`, { headers }).catch(() => null);
  const job = answer?.status === 200 ? await answer.json() : null;
  if (job === null) {
    await pause(PAUSE_MS);
    continue;
  }
  const body = JSON.stringify(await work(job));
  await fetch(env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$ID', job.id), { method: 'POST', headers, body });
}
