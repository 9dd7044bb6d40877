/** A worker that says to which step of its job's trace its own would belong, or fails as it is told. */
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

async function run({ id, input, traceparent }) {
  const result = input.fails ? { error: 'on purpose' } : { output: { traceparent } };
  await fetch(`${doneUrl(id)}&isStream=false`, { method: 'POST', headers, body: JSON.stringify(result) });
}
