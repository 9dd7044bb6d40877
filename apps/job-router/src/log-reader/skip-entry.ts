import { LogCheck } from '@berth/endpoint-log';
import type { InspectedEntry } from '@berth/messaging';
import { bytesText } from './formats/amounts.js';
import type { SkipRequest } from './log-request.js';
import type { ReadableLog } from './readable-log.js';
import type { Output } from './output.js';
import { EXIT, showLog, type ExitStatus } from './show-log.js';
import { decideSkip } from './skip-decision.js';
import { TextFormat } from './formats/text-format.js';

export interface Skip {
  readonly request: SkipRequest;
  readonly source: ReadableLog;
  readonly output: Output;
}

/**
 * Says what would be lost without one entry of the log and, where the operator is sure, removes it. It asks the leader of
 * the shard, before and after.
 *
 * @throws PlatformError `service-unavailable` when the broker does not answer
 */
export async function skipEntry({ output, request, source }: Skip): Promise<ExitStatus> {
  const { broker, endpointId } = source;
  const { isSure, sequence } = request;
  const inspected = await broker.inspect(endpointId, sequence);
  const decision = decideSkip(inspected, await broker.readNext(endpointId, sequence));
  if (decision.kind === 'refused' || inspected === null) {
    const why = decision.kind === 'refused' ? decision.why : '';
    await output.write(`#${sequence} stays: ${why}\n`);
    return EXIT.unknown;
  }
  await output.write(`#${sequence}, ${bytesText(inspected.bytes)}, cannot be read: ${decision.why}\n`);
  await output.write(lossText(inspected));
  if (!isSure) {
    await output.write(`Nothing was changed. To remove it: --skip ${sequence} --yes\n`);
    return EXIT.broken;
  }
  await broker.removeEntry(endpointId, sequence);
  await output.write(`#${sequence} is removed. An owner that had stopped opens the endpoint again within a minute.\n`);
  const format = new TextFormat({ jobId: null, hasPayloads: false });
  return showLog({ source, format, output, after: null, isFollowing: false, isFull: false });
}

/** The loss, as far as it can be told. */
function lossText({ entry }: InspectedEntry): string {
  if ('unreadable' in entry) return 'No fact of the endpoint can be made out in it.\n';
  const format = new TextFormat({ jobId: null, hasPayloads: false });
  return `What can be made out in it would be lost with it:\n${format.entry(new LogCheck().add(entry))}`;
}
