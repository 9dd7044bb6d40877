import { ApiProperty } from '@nestjs/swagger';

export class WebhookSecretBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd.2' })
  readonly id!: string;

  @ApiProperty({
    pattern: '^whsec_[A-Za-z0-9+/]+=*$',
    description: 'Give it to the receiver: any library for Standard Webhooks takes it as it is.',
    example: 'whsec_b2g5M2pmMHNsMnhhOHF3N3R2bTFrZDRyYzZ6dWIweWVwaTVuMzI0aGdq',
  })
  readonly secret!: string;

  @ApiProperty({ format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;

  @ApiProperty({
    required: false,
    format: 'date-time',
    description: 'It signs no longer from then on. Absent: it is the present one.',
    example: '2026-01-02T12:00:00.000Z',
  })
  readonly expiresAt?: string;
}

export class WebhookSecretListBody {
  @ApiProperty({ type: () => [WebhookSecretBody], description: 'One or two, newest first.' })
  readonly secrets!: readonly WebhookSecretBody[];
}
