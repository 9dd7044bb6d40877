// A worker that ends as its jobs say, for tests of what becomes of them then. One job at a time.
//
// `dies`: in how many attempts it dies, and `by`: `exit` with code 3, or `kill`, a signal of its own making.
// `freezesAfterMs`: it stands still so long after the job, while it waits for the next one.
// `spinSeconds`: works without ever looking up, as a handler in a loop does. `error`: reports this as its error.

import { setTimeout as pause } from 'node:timers/promises';

const { env } = process;
const headers = { authorization: env.RUNPOD_AI_API_KEY };
const takeUrl = env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', env.RUNPOD_POD_ID);
const PAUSE_MS = 200;

function die({ by }) {
  if (by === 'kill') process.kill(process.pid, 'SIGKILL');
  process.exit(3);
}

function spin(seconds) {
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs);
}

function work({ input, retries }) {
  console.log(`attempt with ${retries} retries`);
  if (retries < (input.dies ?? 0)) die(input);
  if (input.freezesAfterMs !== undefined) setTimeout(() => process.kill(process.pid, 'SIGSTOP'), input.freezesAfterMs);
  if (input.spinSeconds !== undefined) spin(input.spinSeconds);
  return input.error === undefined ? { output: { retries } } : { error: input.error };
}

for (;;) {
  const answer = await fetch(`${takeUrl}&job_in_progress=0`, { headers }).catch(() => null);
  const job = answer?.status === 200 ? await answer.json() : null;
  if (job === null) {
    await pause(PAUSE_MS);
    continue;
  }
  const body = JSON.stringify(work(job));
  await fetch(env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$ID', job.id), { method: 'POST', headers, body });
}
