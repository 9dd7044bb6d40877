import { OPERATOR_INBOX, ROUTER_INBOX } from '@berth/contracts';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { LOG_ANSWER_MS, NatsLogBroker } from '@berth/messaging';
import type { LogConfig } from '../config.js';
import { closeBroker, openBroker, type BrokerAccess } from '../connections/index.js';
import { misuse, type CommandStatus, type PacedOutput } from '../program/index.js';
import { JsonFormat } from './formats/json-format.js';
import type { FormatOptions, LogPrinter } from './formats/log-printer.js';
import { TextFormat } from './formats/text-format.js';
import { logFailureOf, noConnection, noLog } from './log-failure.js';
import type { LogRequest } from './log-request.js';
import { askPatiently, type ReadableLog } from './readable-log.js';
import { showLog } from './show-log.js';
import { skipEntry } from './skip/skip-entry.js';

export interface LogRun {
  readonly request: LogRequest;
  readonly config: LogConfig;
  readonly output: PacedOutput;
  /** Ends what follows a log. */
  readonly signal: AbortSignal;
}

/**
 * Does with one endpoint's log what is asked.
 *
 * @throws CommandError that says why it cannot be had, and what to do
 */
export async function runLog({ config, output, request, signal }: LogRun): Promise<CommandStatus> {
  const access = accessOf(request, config);
  const tools = { clock: systemClock, random: systemRandom, signal };
  const broker = await openBroker(access, tools).catch((error: unknown) => {
    throw noConnection(access.url, error);
  });
  try {
    const log = new NatsLogBroker({ broker, clock: systemClock });
    return await actOn(request, { ...tools, endpointId: request.endpointId, broker: log }, output);
  } catch (error) {
    throw logFailureOf(error);
  } finally {
    await closeBroker(broker, tools);
  }
}

/** The operator's key only reads. A router's removes, and hears its answers where routers do. */
function accessOf(request: LogRequest, { natsCredentials, natsUrl: url, routerSeed }: LogConfig): BrokerAccess {
  const base = { url, answerWithinMs: LOG_ANSWER_MS };
  if (request.kind !== 'skip' || !request.isConfirmed || (routerSeed === null && natsCredentials.kind !== 'nkey')) {
    return { ...base, credentials: natsCredentials, inboxPrefix: OPERATOR_INBOX };
  }
  if (routerSeed === null) {
    throw misuse(
      'The key of the operator only reads: to remove an entry takes that of a router.',
      'Set BERTH_ROUTER_SEED to the BERTH_NATS_SEED of env/job-router.env, for this one command.',
    );
  }
  return { ...base, credentials: { kind: 'nkey', seed: routerSeed }, inboxPrefix: ROUTER_INBOX };
}

async function actOn(request: LogRequest, source: ReadableLog, output: PacedOutput): Promise<CommandStatus> {
  const { broker, endpointId } = source;
  if ((await askPatiently(source, () => broker.readNext(endpointId, 0))) === null) throw noLog(endpointId);
  const plain = { jobId: null, hasPayloads: false, isJson: request.isJson };
  switch (request.kind) {
    case 'skip':
      return skipEntry({ request, source, format: formatOf(plain), output });
    case 'check':
      return showLog({ source, format: formatOf(plain), output, after: null, isFollowing: false, isFull: true });
    case 'show':
      return showLog({ ...request, source, format: formatOf(request), output, isFull: false });
    default:
      return request satisfies never;
  }
}

const formatOf = (options: FormatOptions & { readonly isJson: boolean }): LogPrinter =>
  options.isJson ? new JsonFormat(options) : new TextFormat(options);
