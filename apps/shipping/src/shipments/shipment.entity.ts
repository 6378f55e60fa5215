import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

export type ShipmentStatus = 'waiting' | 'released' | 'cancelled';

@Entity('shipments')
export class Shipment {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column('uuid', { name: 'order_id' })
  orderId: string;

  @Column('text')
  sku: string;

  @Column('int')
  quantity: number;

  /** Waits for the payment, is released to the warehouse, or is not to be sent. */
  @Column('text', { default: 'waiting' })
  status: ShipmentStatus;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;
}
