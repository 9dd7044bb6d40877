import type { OwnerCommand } from '@berth/contracts';
import type { CommandOutcome, EndpointId, JobId } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { ScriptedOwners } from '../../test/fixtures/scripted-owners.js';
import { CommandRefusedError, OwnerCommands, type UnsentCommand } from './owner-commands.js';

const endpointId = 'ep' as EndpointId;
const jobId = 'job' as JobId;
const cancel = { kind: 'cancel', jobId } as const;

/** @param outcomes one for each sending */
function openCommands(...outcomes: readonly object[]) {
  const clock = new ManualClock();
  const left = [...outcomes];
  const owners = new ScriptedOwners(() => {
    clock.jump(1_000);
    return left.shift();
  });
  const sent = (): readonly OwnerCommand[] =>
    owners.asked.map(({ question }) => (question as { readonly command: OwnerCommand }).command);
  return { commands: new OwnerCommands({ owners, clock }), clock, sent };
}

test('a command leaves with the instant of its sending, and its outcome comes back', async () => {
  const { clock, commands, sent } = openCommands({ kind: 'job', jobId, state: 'CANCELLED' });
  const sentAtMs = clock.nowMs();
  expect(await commands.perform(endpointId, cancel, ['job'])).toEqual({ kind: 'job', jobId, state: 'CANCELLED' });
  expect(sent()).toEqual([{ ...cancel, sentAtMs }]);
});

test.each([
  [{ code: 'job-not-found', reason: 'no-job', retryAfterMs: null }, undefined],
  [{ code: 'rate-limited', reason: 'too-many-jobs', retryAfterMs: 1_000 }, 1],
  [{ code: 'rate-limited', reason: 'too-many-keys', retryAfterMs: 1_001 }, 2],
] as const)('a refusal is the caller’s: %j', async (refusal, retryAfterSeconds) => {
  const { code, reason } = refusal;
  const { commands } = openCommands({ kind: 'refused', ...refusal, detail: 'No.' });
  const failed = commands.perform(endpointId, cancel, ['job']).catch((error: unknown) => error);
  expect(await failed).toBeInstanceOf(CommandRefusedError);
  expect(await failed).toMatchObject({ code, reason, message: 'No.', retryAfterSeconds });
});

const jobs: readonly [] = [];

test.each<readonly [UnsentCommand, CommandOutcome]>([
  [cancel, { kind: 'job', jobId, state: 'CANCELLED' }],
  [
    { kind: 'replace-life', jobId, leftMs: 5 },
    { kind: 'job', jobId, state: 'IN_QUEUE' },
  ],
  [
    { kind: 'submit', jobs, key: null },
    { kind: 'accepted', jobIds: [], isReplayed: true },
  ],
])('one that came too late is sent anew, once, where that does no harm: %j', async (command, outcome) => {
  const dropped = { kind: 'dropped' } as const;
  const { commands, sent } = openCommands(dropped, outcome);
  expect(await commands.perform(endpointId, command, [outcome.kind])).toEqual(outcome);
  const [first, second] = sent().map((each) => ('sentAtMs' in each ? each.sentAtMs : 0));
  expect(second).toBe((first ?? 0) + 1_000);
  const again = openCommands(dropped, dropped);
  await expect(again.commands.perform(endpointId, command, [outcome.kind])).rejects.toMatchObject({
    code: 'service-unavailable',
    retryAfterSeconds: 1,
  });
  expect(again.sent()).toHaveLength(2);
});

test.each<UnsentCommand>([
  { kind: 'retry', jobId, retryId: 'r' },
  { kind: 'purge', purgeId: 'p' },
])('one that might be carried out twice is not: %j', async (command) => {
  const { commands, sent } = openCommands({ kind: 'dropped' });
  await expect(commands.perform(endpointId, command, ['job'])).rejects.toMatchObject({ code: 'service-unavailable' });
  expect(sent()).toHaveLength(1);
});

test('an owner that answers something else is at fault, and says which', async () => {
  const { commands } = openCommands({ kind: 'purged', removed: 3 });
  await expect(commands.perform(endpointId, cancel, ['job'])).rejects.toThrow('says "purged" to a cancel command');
});
