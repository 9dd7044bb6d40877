import { createNatsKeys, publicNatsKeys } from '@berth/broker-access';
import { systemRandom } from '@berth/lifecycle';
import { expect, test } from '@jest/globals';
import { createSecretKey, type InstallationRecord } from '../installation.js';
import { completePlan } from '../installation-plan.js';
import { namedSecrets } from './named-secrets.js';
import { ROTATIONS, ROTATION_STEPS, takeStep, type RotationName } from './rotation-steps.js';

const MADE: InstallationRecord = {
  format: 1,
  plan: completePlan({}, '/etc/berth'),
  databasePassword: 'hunter2',
  secretKey: createSecretKey(),
  nats: createNatsKeys(),
  firstKey: { prefix: 'p', hash: 'h' },
  authority: { certificate: '', privateKey: '' },
  authorityUntilMs: 0,
};

/** Behind each step, and behind the last one once more. */
function tell(name: RotationName): readonly (readonly (readonly string[])[])[] {
  let kept = MADE;
  return [...ROTATION_STEPS, 'retire' as const].map((step) => {
    const before = kept;
    kept = takeStep(kept, { name, step }, systemRandom);
    return namedSecrets(name, before, kept).map(({ id, state }) => [state, id]);
  });
}

test.each(ROTATIONS)('secrets of %s have one name through all steps, which is none of theirs', (name) => {
  const [added = [], switched = [], retired = [], again = []] = tell(name);
  const half = added.length / 2;
  expect(half).toBe(name === 'role-keys' ? Object.keys(MADE.nats.roles).length : 1);
  const idsOf = (told: typeof added): readonly string[] => told.map(([, id = '']) => id);
  const [old, made] = [idsOf(added).slice(0, half), idsOf(added).slice(half)];
  const as = (state: string, ids: readonly string[]) => ids.map((id) => [state, id]);
  expect(new Set([...old, ...made]).size).toBe(2 * half);
  expect(added).toEqual([...as('current', old), ...as('new', made)]);
  expect(switched).toEqual([...as('current', made), ...as('old', old)]);
  expect(retired).toEqual([...as('current', made), ...as('retired', old)]);
  expect(again).toEqual(as('current', made));
  const secrets = [MADE.databasePassword, MADE.secretKey, MADE.nats.issuer, ...Object.values(MADE.nats.roles)];
  for (const secret of secrets) expect(idsOf(added).join()).not.toContain(secret);
});

test('they are those that sealed texts, brokers and the database have', () => {
  const [[, [, key] = []] = []] = [tell('secret-key')[0] ?? []];
  expect(key).toMatch(/^[0-9a-f]{8}$/);
  const { issuer, roles } = publicNatsKeys(MADE.nats);
  expect(tell('issuer')[0]?.[0]).toEqual(['current', issuer]);
  expect(tell('role-keys')[0]).toContainEqual(['current', `router ${roles.router.join()}`]);
  expect(tell('database-password')[0]).toEqual([
    ['current', 'berth'],
    ['new', 'berth_2'],
  ]);
});
