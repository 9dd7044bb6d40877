/**
 * A worker that hurts its host on purpose. The input of a job names the attack. It takes little of the processor for
 * itself, as a container with a limit would: what is shown is what its calls do to the agent.
 */
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const { RUNPOD_AI_API_KEY: key, RUNPOD_POD_ID: workerId } = process.env;
const ofWorker = (template) => template.replace('$RUNPOD_POD_ID', workerId);
const takeUrl = process.env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', workerId);
const doneUrl = (jobId) => ofWorker(process.env.RUNPOD_WEBHOOK_POST_OUTPUT).replace('$ID', jobId);
const streamUrl = (jobId) => ofWorker(process.env.RUNPOD_WEBHOOK_POST_STREAM).replace('$ID', jobId);
const pingUrl = ofWorker(process.env.RUNPOD_WEBHOOK_PING);
const headers = { authorization: key, 'content-type': 'application/json' };

const BODY_BYTES = 36 * 2 ** 20;
const BODIES = 4;
const CHUNKS = 64;
const CHUNK_BYTES = 1_000_000;

/** Small in every reader's eyes but the one that makes an object of each. */
const brackets = () => `{"output":[${'{},'.repeat(BODY_BYTES / 3 - 8)}{}]}`;
const deep = () => `{"output":${'['.repeat(BODY_BYTES / 2 - 8)}${']'.repeat(BODY_BYTES / 2 - 8)}}`;

const ATTACKS = {
  brackets: (id) => postAll(doneUrl(id), brackets()),
  deep: (id) => postAll(doneUrl(id), deep()),
  async chunks(id) {
    const body = JSON.stringify({ output: 'x'.repeat(CHUNK_BYTES - 16) });
    for (let n = 0; n < CHUNKS; n += 1) await post(streamUrl(id), body);
    await post(doneUrl(id), '{"output":[]}', true);
  },
  async complaints(id) {
    for (const reason of ['%00', 'x'.repeat(5_000), '%ED%A0%80', '%0A'.repeat(1_000)]) {
      await fetch(`${pingUrl}?status=unhealthy&check=${reason}&reason=${reason}`, { headers }).catch(() => undefined);
    }
    await post(doneUrl(id), '{"output":null}');
  },
  /** It stands still with a poll open; only its end by others lets another worker come. */
  freeze: () => process.kill(process.pid, 'SIGSTOP'),
  async garbage(id) {
    for (const body of ['', '\u0000', '[', '{"output":', '"\\ud800"', 'null', '{"error":{"a":1}'])
      await post(doneUrl(id), body);
  },
};

const postAll = (url, body) => Promise.all(Array.from({ length: BODIES }, () => post(url, body)));

/** Whatever the answer: who attacks does not care. */
async function post(url, body, isStream = false) {
  try {
    const response = await fetch(`${url}&isStream=${isStream}`, { method: 'POST', headers, body });
    await response.arrayBuffer();
  } catch {
    await sleep(100); // the agent cut the connection, or is being restarted
  }
}

let isLeaving = false;
process.on('SIGTERM', () => (isLeaving = true));
setPriority(19);

while (!isLeaving) {
  try {
    const response = await fetch(`${takeUrl}&job_in_progress=0`, { headers });
    if (response.status === 200) {
      const { id, input } = await response.json();
      await ATTACKS[input.attack]?.(id);
    } else await response.arrayBuffer();
  } catch {
    await sleep(500); // the host agent is being restarted
  }
}
