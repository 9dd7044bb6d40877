import type { HostId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { agentPermissions } from './agent-permissions.js';

describe('what an agent may do', () => {
  test('is bound to its own host', () => {
    expect(agentPermissions('h1' as HostId)).toEqual({
      pub: { allow: ['agents.h1.up.>'] },
      sub: { allow: ['agents.h1.down.>', '_INBOX_agent.h1.>'] },
    });
  });

  test.each(['*', '>', 'h1.up', 'a b', '', 'h\n1', 'x'.repeat(65)])('is refused to the id %j', (hostId) => {
    expect(() => agentPermissions(hostId as HostId)).toThrow(RangeError);
  });
});
