import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

export type OrderStatus = 'placed' | 'paid' | 'cancelled';

@Entity('orders')
export class Order {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column('text')
  sku: string;

  @Column('int')
  quantity: number;

  @Column('int', { name: 'amount_cents' })
  amountCents: number;

  @Column('text', { default: 'placed' })
  status: OrderStatus;

  @CreateDateColumn({ type: 'timestamptz', name: 'placed_at' })
  placedAt: Date;
}
