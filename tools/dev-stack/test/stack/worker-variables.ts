import { expect } from '@jest/globals';

/** A worker as its endpoint and its place make it. */
export interface GivenWorker {
  readonly workerId: string;
  readonly endpointId: string;
  readonly dataCenterId: string;
  readonly runtime: 'docker' | 'process';
  readonly volumeId: string | null;
  /** It has a GPU and a volume. */
  readonly isRich: boolean;
  /** Its tenant has set every variable of the table, else none. */
  readonly isClaimed: boolean;
}

interface Row {
  readonly name: string;
  /** Null: it is not set. */
  readonly value: (worker: GivenWorker) => unknown;
  /** What a tenant sets it to, where just any word would not do. */
  readonly theirs?: string;
}

const THEIRS = 'theirs';
const GPU_LABEL = 'NVIDIA+GeForce+RTX+4090';

const callOf =
  (path: (worker: GivenWorker) => string) =>
  (worker: GivenWorker): unknown => {
    const gpu = worker.isRich ? GPU_LABEL : 'cpu';
    const end = `/v2/${worker.endpointId}/${path(worker)}?gpu=${gpu}`;
    return expect.stringMatching(new RegExp(`^http://[^/ ]+:\\d+${escaped(end)}$`));
  };
const escaped = (text: string): string => text.replaceAll(/[$+?.]/g, String.raw`\$&`);

const ours = (name: string, value: (worker: GivenWorker) => unknown): Row => ({ name, value });
/** What only a worker with a GPU and a volume has; another is not told of one. */
const ofRich = (name: string, value: (worker: GivenWorker) => unknown): Row =>
  ours(name, (worker) => (worker.isRich ? value(worker) : null));
const never = (name: string): Row => ours(name, () => null);
/** Theirs where they set it, else what we say; null: nothing. */
const tenants = (name: string, otherwise: string | null, word = THEIRS): Row => ({
  ...{ name, theirs: word },
  value: ({ isClaimed }) => (isClaimed ? word : otherwise),
});
/** As they say it, else as the image does; a process has no image, and is told what its host has, if anything. */
const images = (name: string, value: string, ofHost: string | null): Row => ({
  name,
  value: ({ isClaimed, isRich, runtime }) => {
    if (isClaimed) return THEIRS;
    if (runtime === 'docker') return value;
    return isRich ? ofHost : null;
  },
});

/** Every variable of wire contract 1.2, 1.15 and 1.16, and what a worker finds in it (ADR 0062). */
export const ROWS: readonly Row[] = [
  ours(
    'RUNPOD_WEBHOOK_GET_JOB',
    callOf(({ workerId }) => `job-take/${workerId}`),
  ),
  ours(
    'RUNPOD_WEBHOOK_POST_OUTPUT',
    callOf(({ workerId }) => `job-done/${workerId}/$ID`),
  ),
  ours(
    'RUNPOD_WEBHOOK_POST_STREAM',
    callOf(({ workerId }) => `job-stream/${workerId}/$ID`),
  ),
  ours(
    'RUNPOD_WEBHOOK_PING',
    callOf(({ workerId }) => `ping/${workerId}`),
  ),
  ours('RUNPOD_PING_INTERVAL', () => '5000'),
  ours('RUNPOD_AI_API_KEY', () => expect.stringMatching(/^[\x21-\x7e]{20,}$/)),
  ours('RUNPOD_POD_ID', ({ workerId }) => workerId),
  ours('RUNPOD_POD_HOSTNAME', ({ workerId }) => `${workerId}-${workerId.slice(-8)}`),
  ours('RUNPOD_ENDPOINT_ID', ({ endpointId }) => endpointId),
  ours('RUNPOD_DC_ID', ({ dataCenterId }) => dataCenterId),
  ours('RUNPOD_GPU_COUNT', ({ isRich }) => (isRich ? '1' : '0')),
  ours('RUNPOD_CPU_COUNT', () => expect.stringMatching(/^[1-9]\d*$/)),
  ours('RUNPOD_MEM_GB', () => expect.stringMatching(/^[1-9]\d*$/)),
  ofRich('RUNPOD_GPU_NAME', () => GPU_LABEL),
  ofRich('RUNPOD_GPU_TYPE_ID', () => 'NVIDIA GeForce RTX 4090'),
  ofRich('RUNPOD_GPU_SIZE', () => 'ADA_24'),
  ofRich('RUNPOD_VOLUME_ID', ({ volumeId }) => volumeId),
  ofRich('BERTH_VOLUME_PATH', ({ runtime, volumeId }) =>
    runtime === 'docker' ? '/runpod-volume' : expect.stringMatching(new RegExp(`/${String(volumeId)}$`)),
  ),

  tenants('RUNPOD_LOG_LEVEL', 'INFO', 'WARN'),
  tenants('RUNPOD_DEBUG_LEVEL', 'INFO', 'ERROR'),
  tenants('RUNPOD_SKIP_AUTO_SYSTEM_CHECKS', 'true', 'false'),
  tenants('RUNPOD_INIT_TIMEOUT', '420', '300'),
  ...[
    ...['RUNPOD_SKIP_GPU_CHECK', 'RUNPOD_MIN_MEMORY_GB', 'RUNPOD_MIN_DISK_PERCENT', 'RUNPOD_MIN_CUDA_VERSION'],
    ...['RUNPOD_NETWORK_CHECK_TIMEOUT', 'RUNPOD_GPU_BENCHMARK_TIMEOUT', 'RUNPOD_GPU_TEST_TIMEOUT'],
    ...['BUCKET_ENDPOINT_URL', 'BUCKET_ACCESS_KEY_ID', 'BUCKET_SECRET_ACCESS_KEY'],
    ...['RUNPOD_MAX_DOWNLOAD_BYTES', 'RUNPOD_ALLOW_PRIVATE_DOWNLOAD_URLS'],
    // Nothing of ours stands behind these, so we set none of them.
    ...['RUNPOD_PUBLIC_IP', 'RUNPOD_TCP_PORT_22', 'RUNPOD_API_KEY', 'PUBLIC_KEY'],
    ...['RUNPOD_AI_API_ID', 'RUNPOD_ENDPOINT_SECRET'],
  ].map((name) => tenants(name, null)),

  images('CUDA_VERSION', '12.1.0', '12.4'),
  images('PYTORCH_VERSION', '2.4.0', null),

  never('RUNPOD_SLS_CORE'),
  never('RUNPOD_SLS_CORE_PATH'),
];

/** A tenant's variables: all of the table, as if they were all theirs to set. */
export const theirs = (): Record<string, string> =>
  Object.fromEntries(ROWS.map((row) => [row.name, row.theirs ?? THEIRS]));

export const expectedOf = (worker: GivenWorker): Record<string, unknown> =>
  Object.fromEntries(ROWS.map(({ name, value }) => [name, value(worker)]));

const SECTIONS = ['1.2', '1.15', '1.16'];
const NAME = /\b(?:RUNPOD|BUCKET|BERTH|CUDA|PYTORCH|PUBLIC)_[A-Z0-9_]*[A-Z0-9]\b/g;

/** The variables that the sections on them name. */
export function namesInContract(page: string): readonly string[] {
  const sections = page.split(/^(?=#{2,3} )/m).filter((text) => SECTIONS.includes(/^### (\S+)/.exec(text)?.[1] ?? ''));
  expect(sections).toHaveLength(SECTIONS.length);
  return [...new Set(sections.flatMap((text) => text.match(NAME) ?? []))];
}
