/**
 * One entry per fence: files that it must reject, and their clean twins. `rules` are the findings that the rejected files
 * must cause; an accepted file must cause none at all from the same tool. The paths are those of the copy of the
 * repository that `fences.mjs` drops them into, so that the real configuration decides, not a model of it.
 */
export const FENCES = [
  {
    fence: 'an app does not import the test library, another app, or a file of another package',
    tool: 'eslint',
    rules: ['@nx/enforce-module-boundaries'],
    rejected: {
      'apps/job-router/src/fence-testing.ts': `
        export { nothing } from '@berth/testing';
      `,
      'apps/job-router/src/fence-app.ts': `
        export { neighbour } from '../../worker-agent/src/fence-neighbour.js';
      `,
      'apps/job-router/src/fence-path.ts': `
        export { systemClock } from '../../../libs/lifecycle/src/system-clock.js';
      `,
    },
    accepted: {
      'apps/worker-agent/src/fence-neighbour.ts': `
        export const neighbour = 1;
      `,
      'apps/job-router/src/fence-library.ts': `
        export { systemClock } from '@berth/lifecycle';
      `,
      'apps/job-router/src/fence-testing.spec.ts': `
        export { nothing } from '@berth/testing';
      `,
    },
  },
  {
    fence: 'imports between libraries run downhill',
    tool: 'eslint',
    rules: ['@nx/enforce-module-boundaries'],
    rejected: {
      'libs/http/src/fence-sideways.ts': `
        export { nothing } from '@berth/messaging';
      `,
      'libs/lifecycle/src/fence-uphill.ts': `
        export { nothing } from '@berth/domain';
      `,
    },
    accepted: {
      'libs/http/src/fence-downhill.ts': `
        export { systemClock } from '@berth/lifecycle';
      `,
    },
  },
  {
    fence: 'the domain is pure and synchronous',
    tool: 'eslint',
    rules: [
      'no-restricted-globals',
      'no-restricted-imports',
      'no-restricted-properties',
      'no-restricted-syntax',
      '@nx/enforce-module-boundaries',
    ],
    rejected: {
      'libs/domain/src/fence-import.ts': `
        export { Injectable } from '@nestjs/common';
      `,
      'libs/domain/src/fence-builtin.ts': `
        export { readFileSync } from 'node:fs';
      `,
      'libs/domain/src/fence-now.ts': `
        export const at = Date.now();
      `,
      'libs/domain/src/fence-date.ts': `
        export const at = new Date();
      `,
      'libs/domain/src/fence-chance.ts': `
        export const chance = Math.random();
      `,
      'libs/domain/src/fence-machine.ts': `
        export const page = fetch;
      `,
      'libs/domain/src/fence-async.ts': `
        export const later = async (): Promise<number> => Promise.resolve(1);
      `,
    },
    accepted: {
      'libs/domain/src/fence-pure.ts': `
        export const isExpired = (expiresAt: Date, now: Date): boolean => now >= expiresAt;
        export const at = (ms: number): Date => new Date(ms);
      `,
    },
  },
  {
    fence: 'for the compiler, the domain has no machine around it',
    tool: 'tsc',
    rules: ['TS2304', 'TS2591', 'TS2584'],
    rejected: {
      'libs/domain/src/fence-host.ts': `
        export const timer = setTimeout(() => 1, 1);
        export const home = process.cwd();
        console.log(fetch);
      `,
    },
    accepted: {
      'libs/domain/src/fence-arithmetic.ts': `
        export const half = (whole: number): number => whole / 2;
      `,
    },
  },
  {
    fence: 'the environment is read in config.ts only',
    tool: 'eslint',
    rules: ['no-restricted-syntax'],
    rejected: {
      'libs/telemetry/src/fence-environment.ts': `
        export const level = process.env['LEVEL'];
      `,
    },
    accepted: {
      'apps/job-router/src/fence/config.ts': `
        export const level = process.env['LEVEL'];
      `,
    },
  },
  {
    fence: 'clocks, timers and chance come from the lifecycle library',
    tool: 'eslint',
    rules: ['no-restricted-globals', 'no-restricted-imports', 'no-restricted-properties', 'no-restricted-syntax'],
    rejected: {
      'libs/telemetry/src/fence-now.ts': `
        export const nowMs = Date.now();
      `,
      'libs/telemetry/src/fence-date.ts': `
        export const now = new Date();
      `,
      'libs/telemetry/src/fence-chance.ts': `
        export const chance = Math.random();
      `,
      'libs/telemetry/src/fence-uuid.ts': `
        export { randomUUID } from 'node:crypto';
      `,
      'libs/telemetry/src/fence-timer.ts': `
        setTimeout(() => undefined, 1);
      `,
      'libs/telemetry/src/fence-timer.spec.ts': `
        export { setTimeout } from 'node:timers/promises';
      `,
    },
    accepted: {
      'libs/lifecycle/src/fence-clock.ts': `
        export const nowMs = Date.now();
        setTimeout(() => undefined, 1);
      `,
      'libs/telemetry/src/fence-clock-argument.ts': `
        import type { Clock } from '@berth/lifecycle';
        export const nowMs = (clock: Clock): number => clock.nowMs();
      `,
    },
  },
  {
    fence: 'the compiler knows what a switch forgets, what a promise loses, and what is thrown',
    tool: 'eslint',
    rules: [
      '@typescript-eslint/switch-exhaustiveness-check',
      '@typescript-eslint/no-floating-promises',
      '@typescript-eslint/only-throw-error',
      '@typescript-eslint/no-explicit-any',
      '@typescript-eslint/consistent-type-imports',
    ],
    rejected: {
      'libs/telemetry/src/fence-types.ts': `
        import { Clock } from '@berth/lifecycle';
        export function waits(kind: 'short' | 'long', clock: Clock, loose: any): number {
          clock.sleep(1);
          switch (kind) {
            case 'short':
              return 1;
          }
          throw String(loose);
        }
      `,
    },
    accepted: {
      'libs/telemetry/src/fence-types-kept.ts': `
        import type { Clock } from '@berth/lifecycle';
        export async function waits(kind: 'short' | 'long', clock: Clock): Promise<number> {
          await clock.sleep(1);
          switch (kind) {
            case 'short':
              return 1;
            case 'long':
              return 2;
            default:
              return kind satisfies never;
          }
        }
      `,
    },
  },
  {
    fence: 'what a comment cites can be read in docs/',
    tool: 'eslint',
    rules: ['berth/citations'],
    rejected: {
      'libs/domain/src/fence-citation.ts': `
        /** As the clients send it (wire contract 99.9). */
        export const cited = 1;
      `,
      'libs/domain/src/fence-citation-of-a-book.ts': `
        /** As the clients send it (wire contract, the chapter on clients). */
        export const cited = 1;
      `,
      'libs/domain/src/fence-citation-in-a-list.ts': `
        /** As the clients send it (wire contract, sections 2.7, 2.4 and 99.9). */
        export const cited = 1;
      `,
      'libs/domain/src/fence-citation-of-a-design.ts': `
        /** How much there may be (design, section 9). */
        export const cited = 1;
      `,
      'libs/domain/src/fence-citation-of-a-specification.ts': `
        /** How much there may be (specification, "Bounds"). */
        export const cited = 1;
      `,
      'libs/domain/src/fence-citation-of-a-contract.ts': `
        /** How much there may be (running contract, "Bounds"). */
        export const cited = 1;
      `,
      'libs/domain/src/fence-citation-of-a-brief.ts': `
        /** How much there may be (brief). */
        export const cited = 1;
      `,
      'libs/domain/src/fence-citation-of-a-decision.ts': `
        /** What was decided (ADR 9999). */
        export const cited = 1;
      `,
    },
    accepted: {
      'libs/domain/src/fence-citations.ts': `
        /**
         * As the clients send it (wire contract 2.7), and what is made of it (API
         * decisions 1.3, ADR 0001, 0002 and 0003; wire contract, sections 2.4 and 2.7). A brief design has
         * no specification.
         */
        export const cited = 1;
      `,
    },
  },
  {
    fence: 'a sentence of a comment begins with the thing that acts',
    tool: 'eslint',
    rules: ['berth/subjects'],
    rejected: {
      'libs/http/src/fence-pronoun.ts': `
        /** Who asks, as far as the key tells. */
        export const asker = 1;
      `,
      'libs/http/src/fence-pronoun-behind-a-sentence.ts': `
        // It is bounded. Nobody
        // waits for more.
        export const bound = 1;
      `,
    },
    accepted: {
      'libs/http/src/fence-noun.ts': `
        /**
         * The caller that asks, whoever that is: nobody else is told. A title such as "Nobody listens" is only mentioned,
         * like \`Whatever\`.
         */
        export const caller = 1;
      `,
    },
  },
  {
    fence: 'the suffix of a file says what is in it',
    tool: 'eslint',
    rules: ['berth/suffixes'],
    rejected: {
      'libs/http/src/fence.service.ts': `
        export class Fence {}
      `,
      'libs/http/src/fence.port.ts': `
        export const fence = (): number => 1;
      `,
      'libs/http/src/fence.helper.ts': `
        export const fence = 1;
      `,
      'libs/http/src/fence.store.ts': `
        export class FenceRows {}
      `,
      'libs/http/src/fence.dto.ts': `
        export class FenceDto {
          readonly height: number = 1;
        }
      `,
      'libs/http/src/fence.body.ts': `
        export interface FenceBody { readonly height: number }
      `,
      'libs/http/src/fence.mapper.ts': `
        class FenceMapper {}
        export const toFenceBody = (): FenceMapper => new FenceMapper();
      `,
      'libs/http/src/fence.decorator.ts': `
        export const fence = (): number => 1;
      `,
    },
    accepted: {
      'libs/http/src/fence-rows.store.ts': `
        export class FenceRowsStore {}
      `,
      'libs/http/src/fence-shape.body.ts': `
        import { ApiProperty } from '@nestjs/swagger';
        export class FenceShapeBody {
          @ApiProperty({ type: 'integer' })
          readonly height!: number;
        }
      `,
      'libs/http/src/fence-table.dto.ts': `
        import { ApiProperty } from '@nestjs/swagger';
        export class FenceTableDto {}
        for (const name of ['height', 'width']) {
          ApiProperty({ type: 'integer' })(FenceTableDto.prototype, name);
        }
      `,
      'libs/http/src/fence-shape.mapper.ts': `
        export const toFenceShape = (height: number): { readonly height: number } => ({ height });
      `,
      'libs/http/src/fence-described.decorator.ts': `
        import { applyDecorators } from '@nestjs/common';
        export const Described = (): MethodDecorator => applyDecorators();
      `,
      'libs/http/src/fence-argument.decorator.ts': `
        import { createParamDecorator } from '@nestjs/common';
        export const FenceArgument = createParamDecorator(() => 1);
      `,
      'libs/http/src/fence-ways.port.ts': `
        export abstract class FenceWays {
          abstract ways(): number;
        }
      `,
    },
  },
  {
    fence: 'names are exported one by one, parameters are few, functions are short',
    tool: 'eslint',
    rules: ['no-restricted-syntax', 'max-lines-per-function', 'complexity', 'max-depth'],
    rejected: {
      'libs/telemetry/src/fence-star.ts': `
        export * from '@berth/lifecycle';
      `,
      'libs/telemetry/src/fence-default.ts': `
        export default 1;
      `,
      'libs/telemetry/src/fence-positions.ts': `
        export const four = (a: number, b: number, c: number, d: number): number => a + b + c + d;
      `,
      'libs/telemetry/src/fence-budgets.ts': `
        export function long(a: number): number {
          if (a > 1) { if (a > 2) { if (a > 3) { if (a > 4) { return 4; } } } }
          ${'if (a === 5) { return 5; }\n'.repeat(50)}
          return a;
        }
      `,
    },
    accepted: {
      'libs/http/src/fence-injected.ts': `
        import { Injectable, Logger, Scope } from '@nestjs/common';
        @Injectable({ scope: Scope.DEFAULT })
        export class Injected {
          readonly all: readonly Logger[];
          constructor(a: Logger, b: Logger, c: Logger, d: Logger) {
            this.all = [a, b, c, d];
          }
        }
      `,
    },
  },
  {
    fence: 'rooms have doors',
    tool: 'depcruise',
    rules: ['rooms-have-doors'],
    rejected: {
      'apps/job-router/src/fence-room/back-door.ts': `
        export { secret } from '../fence-cellar/secret.js';
      `,
    },
    accepted: {
      'apps/job-router/src/fence-room/front-door.ts': `
        export { secret } from '../fence-cellar/index.js';
      `,
      'apps/job-router/src/fence-cellar/index.ts': `
        export { secret } from './secret.js';
      `,
      'apps/job-router/src/fence-cellar/secret.ts': `
        export const secret = 1;
      `,
    },
  },
  {
    fence: 'no cycles',
    tool: 'depcruise',
    rules: ['no-cycles'],
    rejected: {
      'libs/lifecycle/src/fence-chicken.ts': `
        import type { Egg } from './fence-egg.js';
        export interface Chicken { readonly from: Egg }
      `,
      'libs/lifecycle/src/fence-egg.ts': `
        import type { Chicken } from './fence-chicken.js';
        export interface Egg { readonly from: Chicken }
      `,
    },
    accepted: {
      'libs/lifecycle/src/fence-river.ts': `
        export { source } from './fence-source.js';
      `,
      'libs/lifecycle/src/fence-source.ts': `
        export const source = 1;
      `,
    },
  },
  {
    fence: 'no orphans, and no tests in what ships',
    tool: 'depcruise',
    rules: ['no-orphans', 'no-specs-in-production'],
    rejected: {
      'libs/lifecycle/src/fence-orphan.ts': `
        export const alone = 1;
      `,
      'libs/lifecycle/src/fence-shipped.ts': `
        export { sample } from './fence-sample.spec.js';
      `,
    },
    accepted: {
      'libs/lifecycle/src/fence-sample.spec.ts': `
        import { source } from './fence-source.js';
        export const sample = source;
      `,
    },
  },
  {
    fence: 'nothing is exported that nobody uses',
    tool: 'knip',
    rules: ['exports', 'files'],
    rejected: {
      'libs/lifecycle/src/fence-half-used.ts': `
        export const used = 1;
        export const unused = 2;
      `,
      'libs/lifecycle/src/fence-unused.ts': `
        export const unused = 1;
      `,
    },
    accepted: {
      'libs/lifecycle/src/fence-whole.ts': `
        export const whole = 1;
      `,
      'libs/lifecycle/src/fence-half-used.spec.ts': `
        import { used } from './fence-half-used.js';
        import { whole } from './fence-whole.js';
        export const sum = used + whole;
      `,
    },
  },
];
