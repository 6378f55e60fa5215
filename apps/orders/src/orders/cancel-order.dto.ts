import { IsString, Length, Matches } from 'class-validator';

export class CancelOrderDto {
  @IsString()
  @Length(1, 200)
  @Matches(/^\P{C}*$/u, { message: 'reason must not contain control characters' })
  reason: string;
}
