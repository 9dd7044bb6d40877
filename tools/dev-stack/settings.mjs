/**
 * The settings of `npm start`, in the one place that its flags, its help and its warnings are made from. Plain JavaScript
 * without imports: the help must be there before anything is installed or built.
 */

/** `app` names the process that reads a setting which the launcher only hands on. */
export const SETTINGS = [
  {
    variable: 'BERTH_HOME',
    fallback: '.berth',
    meaning: 'database, broker, logs, journal, dev.json; kept over restarts',
  },
  { variable: 'BERTH_PORTS', fallback: '8000', meaning: 'first port of a block of ten, or auto' },
  {
    variable: 'BERTH_ROUTERS',
    fallback: '1',
    meaning: '1 to 16 job routers; each but the first takes the next two ports behind the block',
  },
  { variable: 'BERTH_RUNTIME', fallback: 'auto', meaning: 'docker, process, or auto: whichever can be had' },
  { variable: 'BERTH_IMAGES', fallback: 'examples/workers', meaning: 'where the process runtime finds local/NAME' },
  { variable: 'BERTH_NATS_URL', fallback: 'own server', meaning: 'use this broker instead: nats://… or tls://…' },
  {
    variable: 'BERTH_TRUSTED_BROKER',
    fallback: 'off',
    meaning: 'on: hear agents also at a BERTH_NATS_URL that does not keep hosts apart',
  },
  { variable: 'BERTH_DATABASE_URL', fallback: 'own server', meaning: 'use this PostgreSQL instead: postgres://…' },
  {
    variable: 'BERTH_SIMULATED_GPUS',
    fallback: 'none',
    meaning: 'NVIDIA GeForce RTX 4090:2:12.4 pretends to have GPUs, marked as simulated',
  },
  { variable: 'BERTH_VCPUS', fallback: '8 × cores, at least 64', meaning: 'vCPU that this host reports' },
  { variable: 'BERTH_DEMO', fallback: 'on', meaning: 'off: no sample endpoint, no first job' },
  {
    variable: 'BERTH_DOCKER_SOCKET',
    fallback: 'DOCKER_HOST, or found',
    meaning: 'path or address of the container engine',
  },
  {
    variable: 'BERTH_CONFINEMENT',
    fallback: 'optional',
    meaning: 'required: no container where the firewall cannot confine it',
  },
  {
    variable: 'BERTH_WORKER_BLOCKED_NETWORKS',
    fallback: 'private ones',
    meaning: 'what containers may not reach; IPv4, separated by commas',
    app: 'worker-agent',
  },
  {
    variable: 'BERTH_WORKER_ALLOWED_NETWORKS',
    fallback: 'none',
    meaning: 'what they may reach all the same',
    app: 'worker-agent',
  },
  {
    variable: 'BERTH_WORKER_NAME_SERVERS',
    fallback: "this machine's",
    meaning: 'whom they may ask for names',
    app: 'worker-agent',
  },
  { variable: 'BERTH_LOG_LEVEL', fallback: 'info', meaning: 'trace, debug, info, warn, error or fatal' },
  { variable: 'BERTH_RATE_LIMITS', fallback: 'on', meaning: 'off: job paths take as many requests as come' },
  {
    variable: 'BERTH_REQUESTS_PER_WORKER',
    fallback: '50',
    meaning: 'job requests within 10 s that each ready worker adds',
    app: 'job-router',
  },
  {
    variable: 'BERTH_WEBHOOK_ALLOWED_NETWORKS',
    fallback: '127.0.0.0/8,::1/128',
    meaning: 'private networks that webhooks may go to',
    app: 'job-router',
  },
  {
    variable: 'BERTH_STREAM_FORMAT',
    fallback: 'array',
    meaning: 'array or object: how /stream answers',
    app: 'job-router',
  },
  {
    variable: 'BERTH_RATE_LIMIT_MINUTE',
    fallback: '60',
    meaning: 'management requests of an account in a minute, or off',
    app: 'management-api',
  },
  { variable: 'BERTH_RATE_LIMIT_HOUR', fallback: '3000', meaning: 'the same in an hour', app: 'management-api' },
  { variable: 'BERTH_RATE_LIMIT_DAY', fallback: '50000', meaning: 'the same in a day', app: 'management-api' },
  {
    variable: 'BERTH_HISTORY_RETENTION_DAYS',
    fallback: '30',
    meaning: 'days that the job history keeps a job',
    app: 'controllers',
  },
];

/** Promised, and not built yet: who gives one must hear that nothing comes of it. */
export const SETTINGS_OF_LATER = ['BERTH_HOSTS', 'BERTH_LISTEN', 'BERTH_PUBLIC_URL'];

/** `BERTH_LOG_LEVEL` is `--log-level`. */
export const flagOf = (variable) => `--${variable.slice('BERTH_'.length).toLowerCase().replaceAll('_', '-')}`;

export const asksForHelp = (args) => args.some((word) => word === '--help' || word === '-h');

/** What `npm start -- --help` prints. */
export function usage() {
  const width = Math.max(...SETTINGS.map(({ variable }) => flagOf(variable).length));
  const lines = SETTINGS.map(
    ({ variable, fallback, meaning }) =>
      `  ${flagOf(variable).padEnd(width)}  ${meaning}\n  ${''.padEnd(width)}  ${variable}, default: ${fallback}`,
  );
  return `npm start -- [--flag VALUE | --flag=VALUE] …

Runs all of Berth on this machine until Ctrl-C. Each flag is also an environment variable; the flag wins.

${lines.join('\n')}
  ${'--help'.padEnd(width)}  this text; starts nothing
`;
}
