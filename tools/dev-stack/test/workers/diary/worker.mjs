/**
 * A worker that writes down what it does: which job it started, and which result it was told is safe. One line of JSON
 * per event, appended to the file named by DIARY, so that a checker can hold it against what the API says.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { DIARY, RUNPOD_AI_API_KEY: key, RUNPOD_POD_ID: workerId } = process.env;
const takeUrl = process.env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', workerId);
const doneUrl = (jobId) =>
  process.env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$RUNPOD_POD_ID', workerId).replace('$ID', jobId);
const headers = { authorization: key, 'content-type': 'application/json' };
const note = (event) => appendFileSync(DIARY, `${JSON.stringify({ ...event, pid: process.pid, atMs: Date.now() })}\n`);

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
  const execution = randomUUID();
  note({ kind: 'started', jobId: id, execution });
  await sleep(input.sleepMs);
  const body = JSON.stringify({ output: { echo: input.echo, execution } });
  // Like the official SDK: only a 5xx is tried again; a refused connection loses the result.
  for (const pauseMs of [2_000, 3_000, 0]) {
    const { status } = await fetch(`${doneUrl(id)}&isStream=false`, { method: 'POST', headers, body });
    if (status === 200) note({ kind: 'given', jobId: id, execution });
    if (status < 500) return;
    await sleep(pauseMs);
  }
}
