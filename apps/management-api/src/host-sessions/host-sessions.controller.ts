import { MessagePattern, Payload } from '@nestjs/microservices';
import { hostSubject, type HostReply, type JoinReply } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { AgentGateway, CurrentHost } from '@berth/messaging';
import { HostSessionsService } from './host-sessions.service.js';
import { readJoin, readReport } from './read-host-message.js';

/** What agents ask the control plane, over NATS. */
@AgentGateway()
export class HostSessionsController {
  readonly #sessions: HostSessionsService;

  constructor(sessions: HostSessionsService) {
    this.#sessions = sessions;
  }

  @MessagePattern(hostSubject('*', 'join'))
  join(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<JoinReply> {
    return this.#sessions.join(hostId, readJoin(body));
  }

  @MessagePattern(hostSubject('*', 'report'))
  report(@CurrentHost() hostId: HostId, @Payload() body: unknown): Promise<HostReply> {
    return this.#sessions.report(hostId, readReport(body));
  }
}
