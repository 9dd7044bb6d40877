// A worker without an SDK: everything that Berth asks of one, in plain Node.
//
// Berth gives a worker five things in its environment: where to take jobs, where to post results and stream chunks, where
// to ping, and a key that goes with every call as it is. The worker asks; nobody calls it.

import { Agent, request } from 'node:http';

const env = process.env;
const workerId = env.RUNPOD_POD_ID;
const takeUrl = required('RUNPOD_WEBHOOK_GET_JOB').replace('$ID', workerId);
const doneUrl = required('RUNPOD_WEBHOOK_POST_OUTPUT').replace('$RUNPOD_POD_ID', workerId);
const streamUrl = required('RUNPOD_WEBHOOK_POST_STREAM').replace('$RUNPOD_POD_ID', workerId);
const pingUrl = required('RUNPOD_WEBHOOK_PING').replace('$RUNPOD_POD_ID', workerId);
const stopUrl = takeUrl.replace('/job-take/', '/job-stop/');
const headers = { authorization: required('RUNPOD_AI_API_KEY') };

/** Jobs that run side by side. Each slot asks for its own. */
const slots = Number(env.ECHO_SLOTS ?? 4);
/** Longer than Berth holds a poll that has nothing to say. */
const pollTimeoutMs = 90_000;
/** Berth answers a result when it is safe, which it is soon or not at all. */
const postTimeoutMs = 60_000;
const postTriesMax = 20;
/** Connections are kept: each slot has one, and a poll for stops and a ping beside them. */
const agent = new Agent({ keepAlive: true });

/** What runs now: job id → the switch that stops it. */
const running = new Map();
let isLeaving = false;

// ---------------------------------------------------------------------------------------------------------------------
// The work. Replace this with your own: return an output, or call `chunk` for each piece of a stream.

/**
 * Echoes its input. `sleep`: seconds to wait first, `error`: fail with this text, `chunks`: stream so many pieces.
 */
async function echo(input, { chunk, signal }) {
  if (input.sleep > 0) await sleep(input.sleep * 1000, signal);
  signal.throwIfAborted();
  if (input.error !== undefined) throw new Error(String(input.error));
  for (let index = 0; index < (input.chunks ?? 0); index += 1) {
    signal.throwIfAborted();
    await chunk({ index, echo: input });
  }
  return { echo: input };
}

// ---------------------------------------------------------------------------------------------------------------------
// Taking jobs

async function serveSlot() {
  while (!isLeaving) {
    const job = await takeJob();
    if (job !== null) await runJob(job);
  }
}

/** One job, or null when there is none yet: the answer then came late on purpose, so asking again at once is right. */
async function takeJob() {
  const answer = await poll(`${takeUrl}&job_in_progress=${running.size > 0 ? 1 : 0}`);
  return answer?.id === undefined ? null : answer;
}

async function runJob({ id, input }) {
  const stop = new AbortController();
  running.set(id, stop);
  let chunks = 0;
  const chunk = async (output) => {
    chunks += 1;
    await post(streamUrl, id, { isStream: false, body: { output } });
  };
  try {
    const output = await echo(input, { chunk, signal: stop.signal });
    await post(doneUrl, id, { isStream: chunks > 0, body: { output } });
  } catch (error) {
    // A job that was stopped is settled already; a result for it would be dropped.
    if (!stop.signal.aborted) await post(doneUrl, id, { isStream: chunks > 0, body: { error: String(error.message) } });
  } finally {
    running.delete(id);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Hearing of jobs to stop, and saying that this worker lives

async function serveStops() {
  while (!isLeaving) {
    const answer = await poll(stopUrl);
    for (const id of answer?.jobsToStop ?? []) running.get(id)?.abort();
  }
}

async function servePings() {
  const everyMs = Math.max(1000, Number(env.RUNPOD_PING_INTERVAL ?? 10_000));
  for (;;) {
    const url = new URL(pingUrl);
    if (running.size > 0) url.searchParams.set('job_id', [...running.keys()].join(','));
    await call('GET', url, { timeoutMs: everyMs }).catch(complain);
    await sleep(everyMs);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Calls

/** One request and its whole answer. Node's own `http` costs less than `fetch`, which shows at small jobs. */
function call(method, url, { text, timeoutMs }) {
  return new Promise((resolve, reject) => {
    const body =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = request(url, { method, agent, signal, headers: { ...headers, ...body } }, (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(pieces).toString() }));
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

/** A held GET. Null: nothing to say, or no good answer, after a pause that keeps a broken bridge from being hammered. */
async function poll(url) {
  try {
    const { status, text } = await call('GET', url, { timeoutMs: pollTimeoutMs });
    if (status === 200) return JSON.parse(text);
    if (status === 429) await sleep(5000, leaving.signal);
    else if (status !== 204 && status !== 400) await sleep(1000, leaving.signal);
  } catch (error) {
    complain(error);
    await sleep(1000, leaving.signal);
  }
  return null;
}

/** Posts until somebody has taken it: the agent of this host may be restarting. */
async function post(template, jobId, { isStream, body }) {
  const url = `${template.replace('$ID', jobId)}&isStream=${isStream}`;
  const text = JSON.stringify(body);
  for (let tries = 1; tries <= postTriesMax; tries += 1) {
    try {
      const { status } = await call('POST', url, { text, timeoutMs: postTimeoutMs });
      if (status < 500) return;
    } catch (error) {
      complain(error);
    }
    await sleep(Math.min(5000, 250 * tries));
  }
  console.error(`job ${jobId}: the result could not be delivered`);
}

// ---------------------------------------------------------------------------------------------------------------------
// Leaving: no new jobs, those that run may end. The parked polls are answered by Berth as soon as it wants this worker
// gone, and are waited for, because an answer that is under way may carry a job.

const leaving = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    isLeaving = true;
    leaving.abort();
    console.log(`${signal}: leaving, ${running.size} jobs run`);
  });
}

/** Ends early when the signal aborts. */
function sleep(ms, signal) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, signal?.aborted ? 0 : ms);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

function required(name) {
  const value = process.env[name];
  if (!value) {
    console.error(`${name} is not set: this program is started by Berth.`);
    process.exit(2);
  }
  return value;
}

function complain(error) {
  console.error(`call failed: ${error.cause?.message ?? error.message}`);
}

console.log(`worker ${workerId}: ${slots} slots`);
void servePings();
await Promise.all([serveStops(), ...Array.from({ length: slots }, serveSlot)]);
console.log('left');
process.exit(0);
