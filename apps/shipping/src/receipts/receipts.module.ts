import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Receipt } from './receipt.entity.js';
import { ReceiptsController } from './receipts.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([Receipt])],
  controllers: [ReceiptsController],
  exports: [TypeOrmModule],
})
export class ReceiptsModule {}
