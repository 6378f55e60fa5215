import { IsInt, IsUUID, Min } from 'class-validator';
import { AggregateId, OutboxEvent } from 'nestjs-transactional-outbox';

/** The customer paid the whole amount. */
@OutboxEvent('order.paid', { aggregate: 'order', ordered: true })
export class OrderPaid {
  @AggregateId()
  @IsUUID()
  orderId: string;

  @IsInt()
  @Min(1)
  amountCents: number;
}
