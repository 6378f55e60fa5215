import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { ReceiptLog, ReceivedBy } from './receipt-log.js';

/** Writes down every delivery that comes to the handlers of a controller. */
export function LogReceipts(consumer: string): ClassDecorator {
  return applyDecorators(ReceivedBy(consumer), UseInterceptors(ReceiptLog));
}
