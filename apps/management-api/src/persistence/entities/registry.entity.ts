import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'registries' })
export class RegistryEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ type: 'text' })
  name!: string;

  /** Read only where it is opened: no listing loads it. */
  @Column({ name: 'sealed_credentials', type: 'text', select: false })
  sealedCredentials!: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
