/**
 * Health of the process in this container: ends with 0 where its operations port answers well, else with 1.
 *
 *   node health.mjs [/healthz | /readyz]
 *
 * `/healthz`, the default, tells whether it is alive; `/readyz` whether what it depends on is there, too.
 */
const TIMEOUT_MS = 4_000;
const { BERTH_HTTP_HOST: host = '', BERTH_OPERATIONS_PORT: port } = process.env;
const path = process.argv[2] ?? '/healthz';
// Whoever listens everywhere is asked on the loopback; another address is the only one where it listens.
const address = ['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;

try {
  const answer = await fetch(`http://${address}:${port}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  // `docker inspect` shows what a check printed.
  process.stdout.write(`${path} ${answer.status} ${await answer.text()}\n`);
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  process.stdout.write(`${path} ${error.message}: ${error.cause?.message ?? ''}\n`);
  process.exitCode = 1;
}
