import { IsInt, IsNotEmpty, IsString, IsUUID, Max, Min } from 'class-validator';
import { AggregateId, OutboxEvent } from 'nestjs-transactional-outbox';

/** A customer ordered. */
@OutboxEvent('order.placed', { aggregate: 'order', ordered: true })
export class OrderPlaced {
  @AggregateId()
  @IsUUID()
  orderId: string;

  @IsString()
  @IsNotEmpty()
  sku: string;

  @IsInt()
  @Min(1)
  @Max(1000)
  quantity: number;

  @IsInt()
  @Min(1)
  amountCents: number;
}
