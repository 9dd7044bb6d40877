import { systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import { Pool } from 'undici';
import { Tally } from './attack.js';

export interface VictimAccess {
  readonly runUrl: string;
  readonly apiKey: string;
  readonly endpointId: string;
}

/** What the victim saw of its own requests. */
export interface VictimRecord {
  readonly jobIds: readonly string[];
  /** From sending `/run` to its whole answer, in ms, in the order of sending. */
  readonly acceptMs: readonly number[];
  /** Answers other than 200 and connections that broke, by what they said, and how many of each. */
  readonly refusals: Readonly<Record<string, number>>;
}

interface Submissions {
  readonly jobIds: string[];
  readonly acceptMs: number[];
  readonly refused: Tally;
}

const JOBS_PER_SECOND = 20;
const CONNECTIONS = 32;
const CALL_MS = 60_000;
const END_DEADLINE_MS = 300_000;
const ASKED_AT_ONCE = 8;

/** A tenant that submits twenty jobs a second, whether or not the last one is answered yet. */
export class Victim {
  readonly #access: VictimAccess;
  readonly #pool: Pool;

  constructor(access: VictimAccess) {
    this.#access = access;
    this.#pool = new Pool(access.runUrl, { connections: CONNECTIONS, headersTimeout: CALL_MS, bodyTimeout: CALL_MS });
  }

  async submitFor(durationMs: number): Promise<VictimRecord> {
    const record: Submissions = { jobIds: [], acceptMs: [], refused: new Tally() };
    const sent: Promise<void>[] = [];
    const jobs = Math.floor((durationMs / 1_000) * JOBS_PER_SECOND);
    const beginMs = systemClock.monotonicMs();
    for (let n = 0; n < jobs; n += 1) {
      sent.push(this.#submit(n, record));
      const nextMs = beginMs + ((n + 1) * 1_000) / JOBS_PER_SECOND;
      await systemClock.sleep(Math.max(0, nextMs - systemClock.monotonicMs()));
    }
    await Promise.all(sent);
    return { jobIds: record.jobIds, acceptMs: record.acceptMs, refusals: record.refused.counts };
  }

  /** How many of these jobs ended in which state, once all have. */
  async endsOf(jobIds: readonly string[]): Promise<Readonly<Record<string, number>>> {
    const ends: Record<string, number> = {};
    const waiting = [...jobIds];
    const askOn = async (): Promise<void> => {
      for (let jobId = waiting.pop(); jobId !== undefined; jobId = waiting.pop()) {
        const end = await this.#endOf(jobId);
        ends[end] = (ends[end] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askOn));
    return ends;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #submit(n: number, record: Submissions): Promise<void> {
    const beginMs = systemClock.monotonicMs();
    try {
      const { status, text } = await this.#call('POST', '/run', JSON.stringify({ input: { n } }));
      record.acceptMs.push(systemClock.monotonicMs() - beginMs);
      if (status === 200) record.jobIds.push((JSON.parse(text) as { id: string }).id);
      else record.refused.note(`${status} ${(JSON.parse(text) as { title: string }).title}`);
    } catch (error) {
      record.refused.note(String(error));
    }
  }

  #endOf(jobId: string): Promise<string> {
    return pollUntil(
      async () => {
        const { status, text } = await this.#call('GET', `/status/${jobId}`);
        // It asks for thousands as fast as it may: a limit that it meets is no end of a job.
        if (status === 429) return undefined;
        if (status !== 200) return `answered ${status}`;
        const state = (JSON.parse(text) as { status: string }).status;
        return state === 'IN_QUEUE' || state === 'IN_PROGRESS' ? undefined : state;
      },
      { what: `the end of job ${jobId}`, deadlineMs: END_DEADLINE_MS, intervalMs: 250 },
    );
  }

  async #call(method: 'GET' | 'POST', path: string, body: string | null = null) {
    const { apiKey, endpointId } = this.#access;
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await this.#pool.request({ method, path: `/v2/${endpointId}${path}`, headers, body });
    return { status: answer.statusCode, text: await answer.body.text() };
  }
}
