import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import {
  jobSubject,
  withdrawSubject,
  type DownloadReply,
  type RenewReply,
  type ReportReply,
  type TakeReply,
} from '@berth/contracts';
import { PlatformError, type HostId } from '@berth/domain';
import { AgentGateway, ConfirmedReply, CurrentHost } from '@berth/messaging';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import {
  parseChunk,
  parseDone,
  parseDownload,
  parseProgress,
  parseRenew,
  parseTake,
  parseUpload,
  parseWithdraw,
} from './parse-request.js';
import { Reporting } from './reporting.service.js';
import { Taking } from './taking.service.js';

/** What agents ask a router. The broker lets an agent publish under its own host's subject only. */
@AgentGateway()
export class AgentJobsController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly taking: Taking,
    private readonly reporting: Reporting,
  ) {}

  @MessagePattern(jobSubject('*', 'take'))
  async take(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<TakeReply | ConfirmedReply<TakeReply>> {
    await this.admit(hostId);
    const { reply, jobs } = await this.taking.take(hostId, parseTake(body));
    return jobs.length === 0 ? reply : new ConfirmedReply(reply, () => this.taking.giveBack(jobs));
  }

  /** Even a host that is not known any more may give up what it asked for. */
  @EventPattern<string>(withdrawSubject('*'))
  withdraw(@CurrentHost() hostId: HostId, @Payload() body: unknown): void {
    this.taking.withdraw(hostId, parseWithdraw(body));
  }

  @MessagePattern(jobSubject('*', 'renew'))
  async renew(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<RenewReply> {
    await this.admit(hostId);
    return this.reporting.renew(hostId, parseRenew(body));
  }

  @MessagePattern(jobSubject('*', 'chunk'))
  async chunk(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<ReportReply> {
    await this.admit(hostId);
    return this.reporting.chunk(hostId, parseChunk(body));
  }

  @MessagePattern(jobSubject('*', 'progress'))
  async progress(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<ReportReply> {
    await this.admit(hostId);
    return this.reporting.progress(hostId, parseProgress(body));
  }

  @MessagePattern(jobSubject('*', 'download'))
  async download(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<DownloadReply> {
    await this.admit(hostId);
    return this.reporting.download(hostId, parseDownload(body));
  }

  @MessagePattern(jobSubject('*', 'upload'))
  async upload(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<ReportReply> {
    await this.admit(hostId);
    return this.reporting.upload(hostId, parseUpload(body));
  }

  @MessagePattern(jobSubject('*', 'done'))
  async done(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<ReportReply> {
    await this.admit(hostId);
    return this.reporting.done(hostId, parseDone(body));
  }

  /** @throws PlatformError `host-not-found`: a host that was removed may do nothing */
  private async admit(hostId: HostId): Promise<void> {
    if ((await this.directory.findHost(hostId)) === null) {
      throw new PlatformError('host-not-found', 'This host is not known, or no longer.');
    }
  }
}
