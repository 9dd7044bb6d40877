// Answers each job with its input, for any platform that speaks the protocol of the bridge: the same program works for Berth and for
// the queues that Berth is measured beside. ECHO_CLIENT says by what it calls: `http`, the least that Node has, or `fetch`,
// what most people write.

import { Agent, request } from 'node:http';

const env = process.env;
const workerId = env.RUNPOD_POD_ID;
const takeUrl = env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', workerId);
const doneUrl = env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$RUNPOD_POD_ID', workerId);
const headers = { authorization: env.RUNPOD_AI_API_KEY };
const jsonHeaders = { ...headers, 'content-type': 'application/json' };
const slots = Number(env.ECHO_SLOTS ?? 32);
const agent = new Agent({ keepAlive: true, maxSockets: 2 * slots });
let running = 0;
let isLeaving = false;

const callers = {
  fetch: async (method, url, body) => {
    const response = await fetch(url, { method, headers: body === undefined ? headers : jsonHeaders, body });
    return { status: response.status, text: await response.text() };
  },
  http: (method, url, body) =>
    new Promise((resolve, reject) => {
      const sent = body === undefined ? headers : { ...jsonHeaders, 'content-length': Buffer.byteLength(body) };
      const call = request(url, { method, agent, headers: sent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece) => (text += piece));
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      call.on('error', reject);
      call.end(body);
    }),
};
const call = callers[env.ECHO_CLIENT ?? 'http'];

async function serveSlot() {
  while (!isLeaving) {
    try {
      const { status, text } = await call('GET', `${takeUrl}&job_in_progress=${running > 0 ? 1 : 0}`);
      if (status === 200) await run(JSON.parse(text));
      else if (status !== 204 && status !== 400) await pause();
    } catch (error) {
      console.error(`call failed: ${error.message}`);
      await pause();
    }
  }
}

async function run({ id, input }) {
  running += 1;
  const { status, text } = await call(
    'POST',
    `${doneUrl.replace('$ID', id)}&isStream=false`,
    JSON.stringify({ output: { echo: input } }),
  );
  running -= 1;
  if (status !== 200) console.error(`job ${id}: ${status} ${text}`);
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 500));

process.once('SIGTERM', () => {
  isLeaving = true;
  // Parked polls end with the process; what runs gets a moment.
  setTimeout(() => process.exit(0), 2_000);
});

await Promise.all(Array.from({ length: slots }, serveSlot));
process.exit(0);
