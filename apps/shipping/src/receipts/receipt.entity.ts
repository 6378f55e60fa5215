import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** One delivery that came in, whether its event was new or not. Ids follow the order of arrival. */
@Entity('receipts')
export class Receipt {
  @PrimaryColumn('bigint', { generated: 'identity', generatedIdentity: 'ALWAYS' })
  id: string;

  @Column('text')
  consumer: string;

  @Column('text', { name: 'event_id' })
  eventId: string;

  @Column('text', { nullable: true })
  type: string | null;

  @Column('text', { name: 'aggregate_id', nullable: true })
  aggregateId: string | null;

  @Column('bigint', { nullable: true })
  sequence: string | null;

  @CreateDateColumn({ type: 'timestamptz', name: 'received_at' })
  receivedAt: Date;
}
