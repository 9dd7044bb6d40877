import { setPriority } from 'node:os';
import { Tally, type AttackTarget } from './attack.js';
import { ATTACKS } from './attacks.js';

/**
 * The attackers' process. Its first line of input is the target; when the input ends, so do the attacks, and what came
 * of each is printed as one line of JSON. It runs behind everything else, because attackers bring machines of their own.
 */
const LOWEST_PRIORITY = 19;

setPriority(LOWEST_PRIORITY);
const over = new AbortController();
const { promise: firstLine, resolve: onFirstLine } = Promise.withResolvers<string>();
let input = '';
process.stdin.on('data', (data: Buffer) => {
  input += data.toString();
  const end = input.indexOf('\n');
  if (end >= 0) onFirstLine(input.slice(0, end));
});
process.stdin.once('end', () => {
  over.abort();
});

const target = JSON.parse(await firstLine) as AttackTarget;
const results = await Promise.all(
  Object.entries(ATTACKS).map(async ([name, attack]) => {
    const tally = new Tally();
    try {
      await attack({ target, tally, signal: over.signal });
    } catch (error) {
      tally.note(`gave up: ${error instanceof Error ? error.message : String(error)}`);
    }
    return [name, tally.counts] as const;
  }),
);
process.stdout.write(`${JSON.stringify(Object.fromEntries(results))}\n`, () => process.exit(0));
