import { STATEMENTS_PATH } from './database-statements.js';
import type { RotationName, RotationStep } from './rotation-steps.js';

const BROKERS = 'Restart the brokers, one after the other, each once /healthz of the one before answers';
const ALL = 'Restart the management API, the controllers and the job routers, one after the other';
const API_AND_ROUTERS = 'Restart the management API and the job routers, one after the other';
const SAY = `Let psql say ${STATEMENTS_PATH} to the database, as its superuser`;

/** What must be done before the next step, as people and documents read it. */
export const AFTER_STEP: Readonly<Record<RotationName, Readonly<Record<RotationStep, string>>>> = {
  'secret-key': {
    add: `${API_AND_ROUTERS}; then \`--step switch\`.`,
    switch:
      `${API_AND_ROUTERS}. When \`berth doctor\` finds the secrets of the database sealed with one key ` +
      '(berth_management_sealed_with_old_keys says which are left), and the longest job is over (7 days at most): `--step retire`.',
    retire: `${API_AND_ROUTERS}. The old key stays in offline/installation.json and env/restore.env, for backups of before.`,
  },
  'role-keys': {
    add: `${BROKERS}; then \`--step switch\`.`,
    switch: `${ALL}, and whatever else uses backup.env or operator.env; then \`--step retire\`.`,
    retire: `${BROKERS}. A process that was not restarted is refused from then on until it is.`,
  },
  issuer: {
    add: 'Restart the management APIs, one after the other; then `--step switch`.',
    switch: `${BROKERS}; then \`--step retire\`.`,
    retire: 'Restart the management APIs, one after the other.',
  },
  'database-password': {
    add: `${SAY}; then \`--step switch\`.`,
    switch: 'Restart the controllers and the management API, one after the other; then `--step retire`.',
    retire: `${SAY}: where it names a process, restart that, and say it again.`,
  },
};
