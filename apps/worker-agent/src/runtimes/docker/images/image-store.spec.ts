import { Readable } from 'node:stream';
import type { AccountId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type Dockerode from 'dockerode';
import type { ImageRequest } from '../../container-runtime.port.js';
import { shortName } from '../../images/image-name.js';
import { ImageRecords } from './image-records.js';
import { ImageStore } from './image-store.js';

const newFolder = useTempFolders();
const DIGEST = `sha256:${'d'.repeat(64)}`;
const ID = `sha256:${'1'.repeat(64)}`;
const LOGIN = { username: 'anna', password: 'correct' };
const PRIVATE = 'team/secret:1';

interface Login {
  readonly authconfig?: { readonly password?: string };
}

const refusal = (statusCode: number, message: string): Error =>
  Object.assign(new Error(message), { statusCode, json: { message } });

/** An engine with one private image of the default registry, which it knows by every name that a real one takes for it. */
class DefaultRegistryEngine {
  readonly asked: string[] = [];
  /** How often its images were listed. */
  lists = 0;
  readonly #digests: readonly string[];
  #isHere = false;

  constructor(...digests: readonly string[]) {
    this.#digests = digests;
  }

  getImage(name: string) {
    return {
      inspect: async () => {
        if (!this.#isHere) throw refusal(404, 'No such image');
        return { Id: ID, RepoTags: [PRIVATE], RepoDigests: this.#digests };
      },
      distribution: async (login: Login) => {
        this.#admit(name, login);
      },
    };
  }

  async pull(name: string, login: Login): Promise<Readable> {
    this.#admit(name, login);
    this.#isHere = true;
    return Readable.from([]);
  }

  async listImages(): Promise<readonly object[]> {
    this.lists += 1;
    return [{ Id: ID, RepoTags: [PRIVATE], RepoDigests: this.#digests, Size: 1 }];
  }

  async listContainers(): Promise<readonly object[]> {
    return [];
  }

  #admit(name: string, { authconfig }: Login): void {
    this.asked.push(name);
    if (authconfig?.password !== LOGIN.password) throw refusal(500, 'unauthorized: authentication required');
  }
}

let engine: DefaultRegistryEngine;
let store: ImageStore;
const ANNA = { accountId: 'anna' as AccountId, credentials: LOGIN };
const BERT = { accountId: 'bert' as AccountId };
const prepare = (image: string, who: Omit<ImageRequest, 'image'>): Promise<void> => store.ensure({ image, ...who }, {});

/** How an engine of Docker tells the digest, and one of Podman. */
const SHORT = `team/secret@${DIGEST}`;
const LONG = `docker.io/team/secret@${DIGEST}`;

/** Anna brings it, under this name; what room is made for it is made. */
async function bring(name: string, told: string): Promise<void> {
  engine = new DefaultRegistryEngine(told);
  const dockerode = engine as unknown as Dockerode;
  store = new ImageStore({
    ...{ engine: dockerode, streams: dockerode, records: await ImageRecords.open(await newFolder()) },
    ...{ budgetBytes: async () => Number.MAX_SAFE_INTEGER, clock: new ManualClock(), logger: silentLogger },
  });
  await prepare(name, ANNA);
  await eventually(() => expect(engine.lists).toBe(2));
  engine.asked.length = 0;
}

const NAMES = [
  PRIVATE,
  'team/secret:other-tag-of-the-same-image',
  'team/secret',
  `team/secret@${DIGEST}`,
  `team/secret:1@${DIGEST}`,
  'docker.io/team/secret:1',
  `docker.io/team/secret@${DIGEST}`,
  `docker.io/team/secret:1@${DIGEST}`,
  'index.docker.io/team/secret:1',
];
const IDS = [ID, ID.replace('sha256:', ''), '111111111111'];
const BROUGHT = [PRIVATE, 'docker.io/team/secret:1', `index.docker.io/team/secret@${DIGEST}`];

describe.each(BROUGHT.flatMap((name) => [SHORT, LONG].map((told) => [name, told] as const)))(
  "an account's private image that was brought as %s, and is here as %s",
  (brought, told) => {
    beforeEach(() => bring(brought, told));

    test.each([...NAMES, ...IDS])(
      'is not started for another account as %s, unless its registry lets it in',
      async (name) => {
        const denied = { reason: 'image-denied' };
        await expect(prepare(name, { ...BERT, credentials: null })).rejects.toMatchObject(denied);
        const wrong = { ...LOGIN, password: 'wrong' };
        await expect(prepare(name, { ...BERT, credentials: wrong })).rejects.toMatchObject(denied);
        await expect(prepare(name, { ...BERT, credentials: null, digest: DIGEST })).rejects.toMatchObject(denied);
        await prepare(name, { ...BERT, credentials: LOGIN });
        expect(engine.asked.length).toBeGreaterThan(3);
      },
    );

    test('is started unasked for the account whose credentials brought it, by whatever name of it', async () => {
      for (const name of NAMES) await prepare(name, ANNA);
      await prepare(PRIVATE, { ...ANNA, digest: DIGEST });
      expect(engine.asked).toEqual([]);
    });
  },
);

test('an image of the default registry is the same with and without the folder of its own', () => {
  const names = ['python:3', 'library/python:3', 'docker.io/python:3', 'docker.io/library/python:3'];
  expect(new Set(names.map(shortName))).toEqual(new Set(['python:3']));
  for (const name of ['team/library/x', 'registry.example.com/library/x', 'docker.io.example.com/x', 'library/a/b']) {
    expect(shortName(name)).toBe(name);
  }
});
