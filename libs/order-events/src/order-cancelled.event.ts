import { IsNotEmpty, IsString, IsUUID, MaxLength } from 'class-validator';
import { AggregateId, OutboxEvent } from 'nestjs-transactional-outbox';

/** The order will not be carried out. */
@OutboxEvent('order.cancelled', { aggregate: 'order', ordered: true })
export class OrderCancelled {
  @AggregateId()
  @IsUUID()
  orderId: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  reason: string;
}
