export { composeWebhookSecrets } from './compose-webhook-secrets.js';
export { WebhookSecretKeeper } from './webhook-secret-keeper.js';
export { WebhookSecretsService } from './webhook-secrets-service.js';
export { WebhookSecretsController } from './webhook-secrets.controller.js';
