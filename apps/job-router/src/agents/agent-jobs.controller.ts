import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import {
  jobSubject,
  readChunkRequest,
  readDoneRequest,
  readDownloadRequest,
  readProgressRequest,
  readRenewRequest,
  readTakeRequest,
  readUploadRequest,
  readWithdrawMessage,
  withdrawSubject,
  type DoneReply,
  type DownloadReply,
  type RenewReply,
  type ReportReply,
  type TakeReply,
} from '@berth/contracts';
import { requireRead } from '@berth/domain/shape';
import { PlatformError, type HostId } from '@berth/domain';
import { AgentGateway, ConfirmedReply, CurrentHost, PartedReply } from '@berth/messaging';
import { EndpointDirectory } from '../directory/index.js';
import { EndedAttempts } from './attempts/ended-attempts.js';
import { GiveBack } from './attempts/give-back.js';
import { HostEntries } from './host-entries.js';
import { PayloadParts } from './attempts/payload-parts.js';
import { Progress } from './attempts/progress.js';
import { Renewing } from './attempts/renewing.js';
import { Streaming } from './attempts/streaming.js';
import { JobTaking } from './attempts/job-taking.js';

/** The questions of agents to a router. The broker lets an agent publish under its own host's subject only. */
@AgentGateway()
export class AgentJobsController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly taking: JobTaking,
    private readonly giveBack: GiveBack,
    private readonly renewing: Renewing,
    private readonly streaming: Streaming,
    private readonly progressing: Progress,
    private readonly parts: PayloadParts,
    private readonly ended: EndedAttempts,
    private readonly entries: HostEntries,
  ) {}

  @MessagePattern(jobSubject('*', 'take'))
  async take(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<PartedReply<TakeReply>> {
    await this.admit(hostId);
    const request = requireRead(readTakeRequest(body));
    const end = this.entries.begin(hostId, 'take', request.wishes.length);
    return new PartedReply((tell) =>
      this.taking.take(hostId, request, ({ given, reply }) => {
        end(reply.answers.length);
        tell(given.length === 0 ? reply : new ConfirmedReply(reply, () => this.giveBack.all(hostId, given)));
      }),
    );
  }

  /** Even a host that is not known any more may give up what it asked for. */
  @EventPattern<string>(withdrawSubject('*'))
  withdraw(@CurrentHost() hostId: HostId, @Payload() body: unknown): void {
    this.taking.withdraw(hostId, requireRead(readWithdrawMessage(body)));
  }

  @MessagePattern(jobSubject('*', 'renew'))
  async renew(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<RenewReply> {
    await this.admit(hostId);
    return this.renewing.renew(hostId, requireRead(readRenewRequest(body)));
  }

  @MessagePattern(jobSubject('*', 'chunk'))
  async chunk(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<ReportReply> {
    await this.admit(hostId);
    return this.streaming.chunk(hostId, requireRead(readChunkRequest(body)));
  }

  @MessagePattern(jobSubject('*', 'progress'))
  async progress(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<ReportReply> {
    await this.admit(hostId);
    return this.progressing.show(hostId, requireRead(readProgressRequest(body)));
  }

  @MessagePattern(jobSubject('*', 'download'))
  async download(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<DownloadReply> {
    await this.admit(hostId);
    return this.parts.download(hostId, requireRead(readDownloadRequest(body)));
  }

  @MessagePattern(jobSubject('*', 'upload'))
  async upload(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<ReportReply> {
    await this.admit(hostId);
    return this.parts.upload(hostId, requireRead(readUploadRequest(body)));
  }

  @MessagePattern(jobSubject('*', 'done'))
  async done(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<PartedReply<DoneReply>> {
    await this.admit(hostId);
    const ends = requireRead(readDoneRequest(body));
    const end = this.entries.begin(hostId, 'done', ends.length);
    return new PartedReply((tell) =>
      this.ended.take(hostId, ends, (answers) => {
        end(answers.length);
        tell({ answers });
      }),
    );
  }

  /** @throws PlatformError `host-not-found`: a host that was removed may do nothing */
  private async admit(hostId: HostId): Promise<void> {
    if ((await this.directory.findHost(hostId)) === null) {
      throw new PlatformError('host-not-found', 'This host is not known, or no longer.');
    }
  }
}
