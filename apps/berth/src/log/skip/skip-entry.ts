import { LogCheck } from '@berth/endpoint-log';
import { EXIT_STATUS, type CommandStatus, type PacedOutput } from '../../program/index.js';
import type { LogPrinter } from '../formats/log-printer.js';
import type { SkipRequest } from '../log-request.js';
import { askPatiently, type ReadableLog } from '../readable-log.js';
import { showLog } from '../show-log.js';
import { decideSkip } from './skip-decision.js';

export interface Skip {
  readonly request: SkipRequest;
  readonly source: ReadableLog;
  readonly format: LogPrinter;
  readonly output: PacedOutput;
}

/**
 * Says what would be lost without one entry of the log and, where the operator has confirmed it, removes it. It asks the
 * leader of the shard, before and after.
 *
 * @throws PlatformError `service-unavailable` when the broker does not answer
 */
export async function skipEntry({ format, output, request, source }: Skip): Promise<CommandStatus> {
  const { broker, endpointId } = source;
  const { isConfirmed, sequence } = request;
  const inspected = await askPatiently(source, () => broker.inspect(endpointId, sequence));
  const behind = await askPatiently(source, () => broker.readNext(endpointId, sequence));
  const decision = decideSkip(inspected, behind);
  if (decision.kind === 'refused') {
    await output.write(format.skip({ kind: 'stays', sequence, why: decision.why }));
    return EXIT_STATUS.misused;
  }
  const { bytes, entry } = decision.inspected;
  const loss = 'unreadable' in entry ? null : new LogCheck().add(entry);
  await output.write(format.skip({ kind: 'removable', sequence, why: decision.why, bytes, loss, isConfirmed }));
  if (!isConfirmed) return EXIT_STATUS.failed;
  await broker.removeEntry(endpointId, sequence);
  await output.write(format.skip({ kind: 'removed', sequence }));
  return showLog({ source, format, output, after: null, isFollowing: false, isFull: false });
}
