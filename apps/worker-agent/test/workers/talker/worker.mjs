// A worker that counts aloud, and says so when it runs a job, for tests of its log. One job at a time.

import { setTimeout as pause } from 'node:timers/promises';

const { env } = process;
const headers = { authorization: env.RUNPOD_AI_API_KEY };
const takeUrl = env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', env.RUNPOD_POD_ID);
const COUNT_MS = 20;
const PAUSE_MS = 200;

let count = 0;
setInterval(() => {
  count += 1;
  console.log(`count ${count}`);
}, COUNT_MS);

process.on('SIGTERM', () => {
  console.error('last words');
  process.exit(0);
});

for (;;) {
  const answer = await fetch(`${takeUrl}&job_in_progress=0`, { headers }).catch(() => null);
  const job = answer?.status === 200 ? await answer.json() : null;
  if (job === null) {
    await pause(PAUSE_MS);
    continue;
  }
  console.log(`\u001b[1mwork\u001b[0m on ${JSON.stringify(job.input)}`);
  console.log(JSON.stringify({ requestId: job.id, message: 'as an SDK says it', level: 'INFO' }));
  await pause(PAUSE_MS);
  const body = JSON.stringify({ output: 'done' });
  await fetch(env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$ID', job.id), { method: 'POST', headers, body });
}
