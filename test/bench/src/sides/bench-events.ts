import { IsInt, IsString } from 'class-validator';
import { AggregateId, OutboxEvent } from 'nestjs-transactional-outbox';

/** About 300 bytes as JSON, like the payloads of all sides. */
export const FILLER = 'x'.repeat(240);

/** An event whose order does not matter. */
@OutboxEvent('bench.noted', { aggregate: 'bench' })
export class BenchNoted {
  @AggregateId() @IsString() benchId!: string;
  @IsInt() number!: number;
  @IsString() filler!: string;
}

/** An event whose order within its aggregate is kept. */
@OutboxEvent('bench.stepped', { aggregate: 'bench', ordered: true })
export class BenchStepped {
  @AggregateId() @IsString() benchId!: string;
  @IsInt() number!: number;
  @IsString() filler!: string;
}
