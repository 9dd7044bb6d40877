import { readFile, readdir } from 'node:fs/promises';

/** What the kernel counts processor time in, on every Linux that Node runs on. */
const MS_PER_TICK = 10;

interface Counted {
  readonly parent: number;
  readonly ms: number;
}

/** Processor time of processes and of all that they have begun, in ms, by name. A process counts where it is named itself. */
export async function processorTimes(
  processes: ReadonlyMap<string, readonly number[]>,
): Promise<ReadonlyMap<string, number>> {
  const all = await readAll();
  const nameOf = new Map([...processes].flatMap(([name, pids]) => pids.map((pid) => [pid, name] as const)));
  const times = new Map([...processes.keys()].map((name) => [name, 0]));
  for (const [pid, { ms }] of all) {
    const name = ownerOf(pid, all, nameOf);
    if (name !== null) times.set(name, (times.get(name) ?? 0) + ms);
  }
  return times;
}

function ownerOf(pid: number, all: ReadonlyMap<number, Counted>, nameOf: ReadonlyMap<number, string>): string | null {
  for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) {
    const name = nameOf.get(at);
    // The workers of an agent are no part of it.
    if (name !== undefined) return name === AGENT && at !== pid ? WORKERS_NAME : name;
  }
  return null;
}

export const AGENT = 'worker-agent';
export const WORKERS_NAME = 'workers';

async function readAll(): Promise<ReadonlyMap<number, Counted>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const read = await Promise.all(pids.map(async (pid) => [pid, await readOne(pid)] as const));
  return new Map(read.flatMap(([pid, counted]) => (counted === null ? [] : [[pid, counted] as const])));
}

/** Null: it has ended meanwhile. */
async function readOne(pid: number): Promise<Counted | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Its own, and that of children which have ended: what one of those spent would be lost with it.
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return { parent: Number(fields[1]), ms: ticks * MS_PER_TICK };
  } catch {
    return null;
  }
}
