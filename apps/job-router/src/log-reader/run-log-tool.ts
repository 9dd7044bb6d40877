import { ROUTER_INBOX } from '@berth/contracts';
import { systemClock, systemRandom } from '@berth/lifecycle';
import {
  Broker,
  LOG_ANSWER_MS,
  NatsLogBroker,
  connectNats,
  drainConnection,
  type NatsCredentials,
} from '@berth/messaging';
import { JsonFormat } from './formats/json-format.js';
import { complaintOf, UnreachableLogError } from './complaint.js';
import type { LogPrinter, FormatOptions } from './formats/log-printer.js';
import { LOG_USAGE, readLogRequest, type LogRequest } from './log-request.js';
import type { ReadableLog } from './readable-log.js';
import type { Output } from './output.js';
import { EXIT, showLog, type ExitStatus } from './show-log.js';
import { skipEntry } from './skip-entry.js';
import { TextFormat } from './formats/text-format.js';

/** Where the log lies. */
interface LogConfig {
  readonly natsUrl: string;
  readonly natsCredentials: NatsCredentials;
}

export interface LogToolOptions {
  readonly args: readonly string[];
  /** Asked only when a broker is needed. @throws ConfigError */
  readonly loadConfig: () => LogConfig;
  readonly output: Output;
  /** Prints a failure, in words. */
  readonly complain: (text: string) => void;
  /** Ends a tool that follows a log. */
  readonly signal: AbortSignal;
  /** Told before anything is read that the tool goes on until `signal`. Absent: nobody needs to know. */
  readonly onFollow?: () => void;
}

const CONNECT_WITHIN_MS = 5_000;

/** The whole tool. Never rejects but for a fault of ours. */
export async function runLogTool(options: LogToolOptions): Promise<ExitStatus> {
  try {
    const request = readLogRequest(options.args);
    if (request.kind === 'show' && request.isFollowing) options.onFollow?.();
    if (request.kind !== 'help') return await actOn(request, options);
    await options.output.write(LOG_USAGE);
    return EXIT.whole;
  } catch (error) {
    const complaint = complaintOf(error);
    if (complaint === null) throw error;
    options.complain(complaint);
    return EXIT.unknown;
  }
}

type EndpointLogRequest = Exclude<LogRequest, { readonly kind: 'help' }>;

async function actOn(request: EndpointLogRequest, options: LogToolOptions): Promise<ExitStatus> {
  const { natsCredentials: credentials, natsUrl: url } = options.loadConfig();
  const tools = { clock: systemClock, random: systemRandom, signal: options.signal };
  const ways = { inboxPrefix: ROUTER_INBOX, connectWithinMs: CONNECT_WITHIN_MS };
  const name = 'job-router log';
  const connection = await connectNats({ url, name, credentials, ...ways, ...tools }).catch((error: unknown) => {
    throw new UnreachableLogError(`No connection to ${withoutSecrets(url)}: ${messageOf(error)}`);
  });
  try {
    const broker = await Broker.over({ connection, inboxPrefix: ROUTER_INBOX, timeoutMs: LOG_ANSWER_MS });
    const log = new NatsLogBroker({ broker, clock: systemClock });
    return await read(request, { ...tools, endpointId: request.endpointId, broker: log }, options);
  } finally {
    await drainConnection(connection, systemClock);
  }
}

async function read(request: EndpointLogRequest, source: ReadableLog, { output }: LogToolOptions): Promise<ExitStatus> {
  if ((await source.broker.readNext(source.endpointId, 0)) === null) {
    throw new UnreachableLogError(
      `${source.endpointId} has no log here: nobody has ever used it, or it has another id.`,
    );
  }
  switch (request.kind) {
    case 'skip':
      return skipEntry({ request, source, output });
    case 'check': {
      const format = formatOf({ ...request, jobId: null, hasPayloads: false });
      return showLog({ source, format, output, after: null, isFollowing: false, isFull: true });
    }
    case 'show':
      return showLog({ ...request, source, format: formatOf(request), output, isFull: false });
    default:
      return request satisfies never;
  }
}

const formatOf = (options: FormatOptions & { readonly isJson: boolean }): LogPrinter =>
  options.isJson ? new JsonFormat(options) : new TextFormat(options);

/** An address, or several with commas between, may carry user and password. */
const withoutSecrets = (url: string): string => url.replaceAll(/\/\/[^/@,]*@/g, '//');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
