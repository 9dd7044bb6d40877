import { describe, expect, test } from '@jest/globals';
import { ClaimsScene, routerNamed } from '../../test/shard-claims/claims-scene.js';
import { decidePresence, endWrite, noteDisconnect, noteSurvey, termOfShard, trustsShard } from './index.js';

const ME = routerNamed('me');
const OTHER = routerNamed('other');

/** A router that owns all shards. */
function owning(shards = 2): ClaimsScene {
  const scene = new ClaimsScene(ME, shards);
  scene.pass(500);
  scene.perform(scene.decide());
  return scene;
}

describe('taking', () => {
  test('shards that nobody has ever had are taken at once, in the first term', () => {
    const scene = new ClaimsScene(ME, 2);
    scene.pass(500);
    expect(scene.decide()).toEqual([
      { shard: 0, kind: 'take', reason: 'never-claimed' },
      { shard: 1, kind: 'take', reason: 'never-claimed' },
    ]);
    expect(scene.perform(scene.decide())).toEqual([
      { kind: 'taken', shard: 0, term: 1 },
      { kind: 'taken', shard: 1, term: 1 },
    ]);
    expect(trustsShard(scene.state, 0, scene.nowMs)).toBe(true);
  });

  test('nothing is taken before a survey, or long after one', () => {
    const scene = new ClaimsScene(ME, 1);
    expect(scene.reasonFor(0)).toBe('survey-missing');
    scene.pass(500);
    scene.nowMs += 2_001;
    expect(scene.reasonFor(0)).toBe('survey-missing');
  });

  test('a claim that stands still for four seconds is taken, in the next term', () => {
    const scene = new ClaimsScene(ME, 1);
    scene.other(0, OTHER, 1);
    scene.pass(4_000);
    expect(scene.reasonFor(0)).toBe('owned-by-other');
    scene.pass(500);
    expect(scene.decide()).toEqual([{ shard: 0, kind: 'take', reason: 'owner-silent' }]);
    expect(scene.perform(scene.decide())).toEqual([{ kind: 'taken', shard: 0, term: 2 }]);
  });

  test('a claim that moves is never taken', () => {
    const scene = new ClaimsScene(ME, 1);
    scene.other(0, OTHER, 1);
    for (let second = 0; second < 20; second += 1) {
      scene.other(0, OTHER, 1);
      scene.pass(1_000);
      expect(scene.reasonFor(0)).toBe('owned-by-other');
    }
  });

  test('seconds without an own acknowledgement do not count', () => {
    const scene = new ClaimsScene(ME, 1);
    scene.other(0, OTHER, 1);
    scene.pass(3_500);
    for (let half = 0; half < 4; half += 1) {
      scene.nowMs += 500;
      scene.survey();
    }
    scene.pass(4_000);
    expect(scene.reasonFor(0)).toBe('owned-by-other');
    scene.pass(500);
    expect(scene.reasonFor(0)).toBe('owner-silent');
  });

  test('the shard of a process that is proven dead, or that was handed over, is taken at once', () => {
    const scene = new ClaimsScene(ME, 2);
    scene.other(0, OTHER, 1);
    scene.other(1, OTHER, 1);
    scene.other(1, null, 1);
    scene.pass(500);
    expect(scene.decide({ dead: new Set(['other']) })).toEqual([
      { shard: 0, kind: 'take', reason: 'owner-dead' },
      { shard: 1, kind: 'take', reason: 'handed-over' },
    ]);
  });

  test('a shard whose logs are newer than the router reads is left alone', () => {
    const scene = new ClaimsScene(ME, 2);
    scene.pass(10_000);
    expect(scene.reasonFor(1, { formatOf: (shard) => shard + 1 })).toBe('format-newer');
    expect(scene.decide({ formatOf: (shard) => shard + 1 })).toMatchObject([{ shard: 0, kind: 'take' }]);
  });

  test('a refused take is repeated after a while, or over what a survey has shown since', () => {
    const scene = new ClaimsScene(ME, 1);
    scene.pass(500);
    const write = scene.begin(0, 'take');
    endWrite(scene.state, { write, outcome: { kind: 'conflict' } }, scene.nowMs);
    expect(scene.decide()).toEqual([]);
    scene.pass(1_000);
    expect(scene.decide()).toHaveLength(1);
    endWrite(scene.state, { write: scene.begin(0, 'take'), outcome: { kind: 'conflict' } }, scene.nowMs);
    scene.other(0, OTHER, 1);
    scene.survey();
    expect(scene.decide({ dead: new Set(['other']) })).toMatchObject([{ kind: 'take', reason: 'owner-dead' }]);
  });
});

describe('trust', () => {
  test('lasts three seconds from the sending of the last renewal that was acknowledged', () => {
    const scene = owning(1);
    scene.pass(1_000);
    const sentAtMs = scene.nowMs;
    const write = scene.begin(0, 'renew');
    scene.nowMs += 2_500;
    endWrite(scene.state, { write, outcome: scene.bucket.claim(0, write.claim, write.replaces) }, scene.nowMs);
    expect(trustsShard(scene.state, 0, sentAtMs + 2_999)).toBe(true);
    expect(trustsShard(scene.state, 0, sentAtMs + 3_000)).toBe(false);
  });

  test('is not there when an answer waited for a process that slept', () => {
    const scene = owning(1);
    scene.pass(1_000);
    const write = scene.begin(0, 'renew');
    const outcome = scene.bucket.claim(0, write.claim, write.replaces);
    scene.nowMs += 6_000;
    endWrite(scene.state, { write, outcome }, scene.nowMs);
    expect(trustsShard(scene.state, 0, scene.nowMs)).toBe(false);
    expect(termOfShard(scene.state, 0)).toBe(1);
  });

  test('ends with the connection, and what was sent before does not bring it back', () => {
    const scene = owning(1);
    scene.pass(1_000);
    const write = scene.begin(0, 'renew');
    scene.nowMs += 10;
    noteDisconnect(scene.state, scene.nowMs);
    endWrite(scene.state, { write, outcome: scene.bucket.claim(0, write.claim, write.replaces) }, scene.nowMs);
    expect(trustsShard(scene.state, 0, scene.nowMs)).toBe(false);
    scene.pass(1_000);
    scene.perform(scene.decide());
    expect(trustsShard(scene.state, 0, scene.nowMs)).toBe(true);
  });

  test('a renewal that nobody answered counts when a survey shows it, from its sending', () => {
    const scene = owning(1);
    scene.pass(1_000);
    const sentAtMs = scene.nowMs;
    const write = scene.begin(0, 'renew');
    scene.bucket.claim(0, write.claim, write.replaces);
    scene.nowMs += 1_000;
    endWrite(scene.state, { write, outcome: { kind: 'unknown' } }, scene.nowMs);
    expect(scene.survey()).toEqual([]);
    expect(trustsShard(scene.state, 0, sentAtMs + 2_999)).toBe(true);
    expect(trustsShard(scene.state, 0, sentAtMs + 3_000)).toBe(false);
    expect(scene.perform(scene.decide())).toEqual([]);
    expect(trustsShard(scene.state, 0, sentAtMs + 3_000)).toBe(true);
  });
});

describe('losing', () => {
  test("another's claim ends it at once, and nothing older brings the term back", () => {
    const scene = owning(1);
    const before = scene.bucket.survey();
    scene.other(0, OTHER, 2);
    expect(scene.survey()).toEqual([{ kind: 'lost', shard: 0, term: 1, reason: 'taken-by-other' }]);
    expect(trustsShard(scene.state, 0, scene.nowMs)).toBe(false);
    expect(noteSurvey(scene.state, { survey: before, sentAtMs: scene.nowMs }, scene.nowMs)).toEqual([]);
    expect(termOfShard(scene.state, 0)).toBeNull();
  });

  test('a survey from before a renewal says nothing', () => {
    const scene = owning(1);
    const before = scene.bucket.survey();
    scene.pass(1_000);
    scene.perform(scene.decide());
    expect(noteSurvey(scene.state, { survey: before, sentAtMs: scene.nowMs }, scene.nowMs)).toEqual([]);
    expect(trustsShard(scene.state, 0, scene.nowMs)).toBe(true);
  });

  test('a bucket that was made anew is believed after four seconds, and terms go on rising', () => {
    const scene = owning(1);
    scene.other(0, OTHER, 2);
    scene.survey();
    const empty = { claims: new Map(), routers: new Map() };
    const changes = Array.from({ length: 10 }, () => {
      scene.pass(500);
      return noteSurvey(scene.state, { survey: empty, sentAtMs: scene.nowMs }, scene.nowMs);
    });
    expect(changes.flat()).toEqual([]);
    for (let half = 0; half < 10; half += 1) {
      scene.nowMs += 500;
      scene.state.acknowledgements = { ...scene.state.acknowledgements, lastMs: scene.nowMs };
      noteSurvey(scene.state, { survey: empty, sentAtMs: scene.nowMs }, scene.nowMs);
    }
    expect(scene.reasonFor(0)).toBe('never-claimed');
    expect(scene.begin(0, 'take')).toMatchObject({ claim: { owner: ME, term: 3 }, replaces: 0 });
  });
});

describe('sharing', () => {
  test('what is over the share goes one by one, the next when the last has been taken', () => {
    const scene = owning(4);
    scene.pass(1_000, [OTHER]);
    expect(scene.decide().filter(({ kind }) => kind === 'drain')).toEqual([
      { shard: 3, kind: 'drain', reason: 'over-share' },
    ]);
    scene.perform(scene.decide());
    scene.pass(1_500, [OTHER]);
    scene.perform(scene.decide());
    expect(scene.decide()).toEqual([]);
    scene.other(3, OTHER, 2);
    scene.pass(500, [OTHER]);
    expect(scene.decide()).toMatchObject([{ shard: 2, kind: 'drain' }]);
    scene.perform(scene.decide());
    scene.other(2, OTHER, 2);
    scene.pass(2_000, [OTHER]);
    expect(scene.decide().filter(({ kind }) => kind !== 'renew')).toEqual([]);
  });

  test('nothing is handed over to a router that does not read the logs', () => {
    const scene = new ClaimsScene(routerNamed('me', 2), 2);
    scene.pass(500);
    scene.perform(scene.decide());
    scene.pass(1_000, [OTHER]);
    expect(scene.decide({ formatOf: () => 2 }).filter(({ kind }) => kind !== 'renew')).toEqual([]);
  });

  test('what nobody else takes is taken over the share', () => {
    const scene = new ClaimsScene(ME, 2);
    scene.pass(500, [OTHER]);
    scene.perform(scene.decide());
    expect(scene.state.shards.filter(({ claim }) => claim !== null)).toHaveLength(1);
    scene.pass(3_000, [OTHER]);
    expect(scene.decide().filter(({ kind }) => kind === 'take')).toEqual([]);
    scene.pass(1_500, [OTHER]);
    expect(scene.decide().filter(({ kind }) => kind === 'take')).toMatchObject([{ reason: 'left-over' }]);
  });

  test('a router that stops is struck off, hands everything over and takes nothing', () => {
    const scene = owning(2);
    scene.pass(500);
    const view = { dead: new Set<string>(), formatOf: () => 1, isStopping: true };
    expect(decidePresence(scene.state, view, scene.nowMs)).toEqual([
      { kind: 'strike-off', incarnation: 'me', reason: 'stopping' },
    ]);
    expect(scene.decide(view)).toMatchObject([{ kind: 'drain', reason: 'stopping' }, { kind: 'drain' }]);
    expect(scene.perform(scene.decide(view))).toMatchObject([{ reason: 'handed-over' }, { reason: 'handed-over' }]);
    scene.pass(2_000);
    expect(scene.reasonFor(0, view)).toBe('stopping');
  });

  test('a router that is proven dead is struck off, and no silent one', () => {
    const scene = owning(1);
    scene.bucket.present(OTHER);
    scene.pass(20_000);
    const strikeOffs = (dead: ReadonlySet<string>) =>
      decidePresence(scene.state, { dead, formatOf: () => 1, isStopping: false }, scene.nowMs).filter(
        ({ kind }) => kind === 'strike-off',
      );
    expect(strikeOffs(new Set())).toEqual([]);
    expect(strikeOffs(new Set(['other']))).toEqual([
      { kind: 'strike-off', incarnation: 'other', reason: 'proven-dead' },
    ]);
  });
});
