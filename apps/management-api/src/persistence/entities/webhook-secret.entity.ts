import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A secret that signs the webhooks of an endpoint: one without an end, and one that was replaced. */
@Entity({ name: 'webhook_secrets' })
export class WebhookSecretEntity {
  @PrimaryColumn({ name: 'endpoint_id', type: 'text' })
  endpointId!: string;

  @PrimaryColumn({ type: 'integer' })
  ordinal!: number;

  @Column({ name: 'sealed_secret', type: 'text' })
  sealedSecret!: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;
}
