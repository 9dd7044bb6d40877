// Reads a job that waits with the published JavaScript client, and prints what it saw as one line of JSON.
import runpodSdk from 'runpod-sdk';

const [, , baseUrl, apiKey, endpointId] = process.argv;
const endpoint = runpodSdk(apiKey, { baseUrl }).endpoint(endpointId);
const { id } = await endpoint.run({ input: { message: 'ahoy' } });
const { status, completed, succeeded, queue } = await endpoint.status(id);
await endpoint.cancel(id);
const { status: cancelled } = await endpoint.status(id);
console.log(JSON.stringify({ status, completed, succeeded, reason: queue.reason, cancelled }));
