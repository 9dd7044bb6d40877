/**
 * A worker that writes down what it does: which job it started, and which result it was told is safe. One line of JSON
 * per event, appended to the file named by DIARY, so that a checker can hold it against what the API says.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// An image that does not come up until somebody mends it, by making the file that is named here.
if (process.env.MENDED !== undefined && !existsSync(process.env.MENDED)) {
  console.error('no such model');
  process.exit(3);
}

const { DIARY, RUNPOD_AI_API_KEY: key, RUNPOD_POD_ID: workerId } = process.env;
const takeUrl = process.env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', workerId);
const doneUrl = (jobId) =>
  process.env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$RUNPOD_POD_ID', workerId).replace('$ID', jobId);
const streamUrl = (jobId) =>
  process.env.RUNPOD_WEBHOOK_POST_STREAM.replace('$RUNPOD_POD_ID', workerId).replace('$ID', jobId);
const headers = { authorization: key, 'content-type': 'application/json' };
const note = (event) =>
  appendFileSync(DIARY, `${JSON.stringify({ ...event, workerId, pid: process.pid, atMs: Date.now() })}\n`);

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
  for (let index = 0; index < (input.chunks ?? 0); index += 1) {
    await sleep(input.sleepMs / input.chunks);
    await post(streamUrl(id), { output: { execution, index } });
  }
  if (input.chunks === undefined) await sleep(input.sleepMs);
  if (input.failsOnce && isFirstTry(id)) return void (await post(doneUrl(id), { error: 'wanted' }));
  const isGiven = await post(doneUrl(id), { output: { echo: input.echo, execution } });
  if (isGiven) note({ kind: 'given', jobId: id, execution });
}

/** Remembered beside the diary: the next try may be another worker's. */
function isFirstTry(jobId) {
  const mark = `${DIARY}.${jobId}`;
  if (existsSync(mark)) return false;
  writeFileSync(mark, '');
  return true;
}

/** Like the official SDK: only a 5xx is tried again; a refused connection loses the result. */
async function post(url, body) {
  for (const pauseMs of [2_000, 3_000, 0]) {
    const { status } = await fetch(`${url}&isStream=false`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (status < 500) return status === 200;
    await sleep(pauseMs);
  }
  return false;
}
