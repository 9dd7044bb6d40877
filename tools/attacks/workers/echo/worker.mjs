/** The victim's worker: it answers with its input, one job after the other. */
import { setTimeout as sleep } from 'node:timers/promises';

const { RUNPOD_AI_API_KEY: key, RUNPOD_POD_ID: workerId } = process.env;
const takeUrl = process.env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', workerId);
const doneUrl = (jobId) =>
  process.env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$RUNPOD_POD_ID', workerId).replace('$ID', jobId);
const headers = { authorization: key, 'content-type': 'application/json' };

let isLeaving = false;
process.on('SIGTERM', () => (isLeaving = true));

while (!isLeaving) {
  try {
    const response = await fetch(`${takeUrl}&job_in_progress=0`, { headers });
    if (response.status === 200) await run(await response.json());
    else await response.arrayBuffer();
  } catch {
    await sleep(200); // the host agent is being restarted
  }
}

async function run({ id, input }) {
  const body = JSON.stringify({ output: input });
  for (let status = 503; status >= 500;) {
    ({ status } = await fetch(`${doneUrl(id)}&isStream=false`, { method: 'POST', headers, body }));
    if (status >= 500) await sleep(500);
  }
}
