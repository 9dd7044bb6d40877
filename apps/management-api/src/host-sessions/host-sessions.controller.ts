import { MessagePattern, Payload } from '@nestjs/microservices';
import { hostSubject, type HostReply, type JoinReply } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { AgentGateway, CurrentHost } from '@berth/messaging';
import { HostSessionsService } from './host-sessions-service.js';
import { readJoin, readJoinFrame, readReport, readReportFrame } from './read-host-message.js';

/** Agents' questions to the control plane, over NATS. */
@AgentGateway()
export class HostSessionsController {
  readonly #sessions: HostSessionsService;

  constructor(sessions: HostSessionsService) {
    this.#sessions = sessions;
  }

  @MessagePattern(hostSubject('*', 'join'))
  async join(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<JoinReply> {
    await this.#sessions.admitJoin(hostId, readJoinFrame(body));
    return this.#sessions.join(hostId, readJoin(body));
  }

  @MessagePattern(hostSubject('*', 'report'))
  async report(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<HostReply> {
    const verdict = await this.#sessions.admitReport(hostId, readReportFrame(body));
    if (verdict === 'outdated') return this.#sessions.tellDesired(hostId);
    return this.#sessions.report(hostId, readReport(body));
  }
}
