/** A worker that proves that it was told a secret without telling it: it answers with hashes. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { RUNPOD_AI_API_KEY: key, RUNPOD_POD_ID: workerId, CONFIDED = '' } = process.env;
const takeUrl = process.env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', workerId);
const doneUrl = (jobId) =>
  process.env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$RUNPOD_POD_ID', workerId).replace('$ID', jobId);
const headers = { authorization: key, 'content-type': 'application/json' };
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

let isLeaving = false;
process.on('SIGTERM', () => (isLeaving = true));

while (!isLeaving) {
  try {
    const response = await fetch(`${takeUrl}&job_in_progress=0`, { headers });
    if (response.status === 200) await run(await response.text());
    else await response.arrayBuffer();
  } catch {
    await sleep(200); // the host agent is being restarted
  }
}

async function run(text) {
  const { id, input, s3Config } = JSON.parse(text);
  const output = {
    variable: sha256(CONFIDED),
    s3Config: sha256(JSON.stringify(s3Config ?? null)),
    isVerbatim: input.fragment === undefined || text.includes(Buffer.from(input.fragment, 'base64').toString()),
  };
  await fetch(`${doneUrl(id)}&isStream=false`, { method: 'POST', headers, body: JSON.stringify({ output }) });
}
