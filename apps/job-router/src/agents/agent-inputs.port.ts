import type { NoticeMessage } from '@berth/contracts';
import type { Blobs, Chunks } from '@berth/payloads';
import type { Random } from '@berth/lifecycle';

/** Tells routers, by incarnation, what happened to jobs that they wait for. A hint: it may be lost. */
export interface WatcherNotices {
  tell(routers: readonly string[], notice: NoticeMessage): void;
}

/** What the gateway needs beside the owners of logs; the composition root provides it. */
export abstract class AgentInputs {
  abstract readonly blobs: Blobs;
  abstract readonly chunks: Chunks;
  abstract readonly notices: WatcherNotices;
  abstract readonly random: Random;
}
