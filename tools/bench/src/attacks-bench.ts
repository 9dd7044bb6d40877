import { Attackers, prepareBattlefield, type Battlefield, type VictimRecord } from '@berth/attacks';
import { percentile, percentiles, print } from './figures.js';

const CALM_MS = 60_000;
const ATTACKS_MS = 300_000;
const WARM_UP_MS = 10_000;

/** What a victim's `/run` costs beside all attacks at once, against the same minutes of calm before and after them. */
export async function benchAttacks(): Promise<void> {
  print('attacks: starting a stack with a victim and an attacker …');
  const battlefield = await prepareBattlefield();
  try {
    await measure(battlefield);
  } finally {
    await battlefield.clear();
  }
}

async function measure({ target, victim }: Battlefield): Promise<void> {
  const warm = await victim.submitFor(WARM_UP_MS);
  const before = await victim.submitFor(CALM_MS);
  print('  a minute of calm is over; five minutes of attacks begin');
  const attackers = Attackers.start(target);
  const attacked = await victim.submitFor(ATTACKS_MS);
  const report = await attackers.stop();
  for (const [name, counts] of Object.entries(report)) print(`  ${name}: ${JSON.stringify(counts)}`);
  const after = await victim.submitFor(CALM_MS);
  const calm = ascending(before, after);
  const under = ascending(attacked);
  const records = [warm, before, attacked, after];
  const ends = await victim.endsOf(records.flatMap(({ jobIds }) => jobIds));
  const refused = JSON.stringify(records.map(({ refusals }) => refusals));
  print(`victim at 20 jobs/s: ${JSON.stringify(ends)}, refused ${refused}`);
  print(
    `its /run calm: ${percentiles(calm)}; under all attacks for five minutes: ${percentiles(under)}; ` +
      `ratio of p99 ${(percentile(under, 0.99) / percentile(calm, 0.99)).toFixed(2)}`,
  );
}

const ascending = (...records: readonly VictimRecord[]): readonly number[] =>
  records.flatMap(({ acceptMs }) => acceptMs).toSorted((a, b) => a - b);
