import { Controller, Get } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Receipt } from './receipt.entity.js';

@Controller('receipts')
export class ReceiptsController {
  constructor(@InjectRepository(Receipt) private readonly receipts: Repository<Receipt>) {}

  @Get()
  newest(): Promise<Receipt[]> {
    return this.receipts.find({ order: { id: 'desc' }, take: 100 });
  }
}
