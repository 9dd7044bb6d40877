import { MessagePattern, Payload } from '@nestjs/microservices';
import {
  hostSubject,
  readJoin,
  readJoinFrame,
  readReport,
  readReportFrame,
  type HostReply,
  type JoinReply,
} from '@berth/contracts';
import { requireRead } from '@berth/domain/shape';
import type { HostId } from '@berth/domain';
import { AgentGateway, CurrentHost } from '@berth/messaging';
import { HostSessionsService } from './host-sessions-service.js';

/** Agents' questions to the control plane, over NATS. */
@AgentGateway()
export class HostSessionsController {
  readonly #sessions: HostSessionsService;

  constructor(sessions: HostSessionsService) {
    this.#sessions = sessions;
  }

  @MessagePattern(hostSubject('*', 'join'))
  async join(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<JoinReply> {
    await this.#sessions.admitJoin(hostId, requireRead(readJoinFrame(body)));
    return this.#sessions.join(hostId, requireRead(readJoin(body)));
  }

  @MessagePattern(hostSubject('*', 'report'))
  async report(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<HostReply> {
    const verdict = await this.#sessions.admitReport(hostId, requireRead(readReportFrame(body)));
    if (verdict === 'outdated') return this.#sessions.tellDesired(hostId);
    return this.#sessions.report(hostId, requireRead(readReport(body)));
  }
}
