import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import type { OrderStatus } from './order.entity.js';

export class ListOrdersDto {
  @IsOptional()
  @IsIn(['placed', 'paid', 'cancelled'])
  status?: OrderStatus;

  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;
}
