import { IsInt, Matches, Max, Min } from 'class-validator';

export class PlaceOrderDto {
  @Matches(/^[A-Z0-9-]{1,40}$/, { message: 'sku must be 1 to 40 capital letters, digits or hyphens' })
  sku: string;

  @IsInt()
  @Min(1)
  @Max(1000)
  quantity: number;

  /** Price of the whole order. */
  @IsInt()
  @Min(1)
  @Max(100_000_000)
  amountCents: number;
}
