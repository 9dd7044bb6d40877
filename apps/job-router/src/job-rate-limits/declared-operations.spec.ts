import { Controller, Get, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Public, RequireScope } from '@berth/http';
import { expect, test } from '@jest/globals';
import { assertOperationsDeclared } from './declared-operations.js';
import { LimitedAs } from './limited-as.decorator.js';

@Controller('v2/:endpointId')
class LimitedController {
  @Get('limited')
  @RequireScope('jobs:read')
  @LimitedAs('status')
  limited(): void {
    // Only what is declared matters.
  }

  @Get('open')
  @Public()
  open(): void {
    // Only what is declared matters.
  }
}

@Controller('v2/:endpointId')
class ForgetfulController {
  @Get('forgotten')
  @RequireScope('jobs:read')
  forgotten(): void {
    // Only what is declared matters.
  }
}

async function check(...controllers: readonly Type[]): Promise<void> {
  class TestModule {}
  Module({ controllers: [...controllers] })(TestModule);
  const app = await NestFactory.createApplicationContext(TestModule, { logger: false });
  try {
    assertOperationsDeclared(app);
  } finally {
    await app.close();
  }
}

test('a handler that needs a key must say what it counts as; one that is open to everybody need not', async () => {
  await expect(check(LimitedController)).resolves.toBeUndefined();
  await expect(check(LimitedController, ForgetfulController)).rejects.toThrow(
    'Handlers without @JobOperation: ForgetfulController.forgotten',
  );
});
