import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { WebhookSecretBody, WebhookSecretListBody } from '@berth/contracts/http';
import type { EndpointId } from '@berth/domain';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import { WebhookSecretsService } from './webhook-secrets-service.js';

const OK = 200;

@ApiTags('Webhook secrets')
@Controller('v2/serverless/:id/webhook-secrets')
export class WebhookSecretsController {
  readonly #secrets: WebhookSecretsService;

  constructor(secrets: WebhookSecretsService) {
    this.#secrets = secrets;
  }

  @Get()
  @RequireScope('serverless:write')
  @ApiOperation({
    summary: 'Show the secrets that sign the webhooks of an endpoint',
    description:
      'Each request to a `webhook` is signed by the Standard Webhooks rules with every secret that is valid: `webhook-id`, `webhook-timestamp` and `webhook-signature` (`v1,` and the base64 of an HMAC-SHA256 over `id.timestamp.body`, several separated by spaces). Secrets are kept encrypted.',
  })
  @ApiOkResponse({ type: WebhookSecretListBody })
  @ApiProblems('endpoint-not-found')
  list(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<WebhookSecretListBody> {
    return this.#secrets.list(caller, id);
  }

  @Post('rotate')
  @HttpCode(OK)
  @RequireScope('serverless:write')
  @Idempotent({ showsSecret: true })
  @ApiOperation({
    summary: 'Replace the secret that signs the webhooks of an endpoint',
    description:
      'Answers the new one. The one before stays valid for 24 hours, in which both sign. At most two are valid: one that was replaced earlier ends at once.',
  })
  @ApiOkResponse({ type: WebhookSecretBody })
  @ApiProblems('endpoint-not-found')
  rotate(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<WebhookSecretBody> {
    return this.#secrets.rotate(caller, id);
  }
}
