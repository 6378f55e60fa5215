import { Inject, Injectable } from '@nestjs/common';
import { EmitsEvent } from 'nestjs-transactional-outbox';
import { DataSource } from 'typeorm';
import { BenchNoted } from './bench-events.js';
import { insertOrder, noted } from './business.js';

/** A business service as a user writes it, once with the decorator and once without an event. */
@Injectable()
export class EmittingService {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  @EmitsEvent(BenchNoted, (id: string, amountCents: number) => noted(id, amountCents))
  placeWithEvent(amountCents: number): Promise<string> {
    return insertOrder(this.dataSource.manager, amountCents);
  }

  @EmitsEvent(BenchNoted, (id: string, amountCents: number) => noted(id, amountCents))
  @EmitsEvent(BenchNoted, (id: string, amountCents: number) => noted(id, amountCents))
  placeWithTwoEvents(amountCents: number): Promise<string> {
    return insertOrder(this.dataSource.manager, amountCents);
  }

  place(amountCents: number): Promise<string> {
    return this.dataSource.transaction((manager) => insertOrder(manager, amountCents));
  }
}
