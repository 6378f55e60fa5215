import type { InjectionToken } from '@nestjs/common';
import { DataSource } from 'typeorm';

/**
 * Token of a provider of one outbox. The outbox of the default DataSource is found by its class; one of a named
 * DataSource by a text that both sides can build, because each module has its own instances.
 */
export function outboxToken<T>(base: InjectionToken<T>, dataSource: InjectionToken | undefined): InjectionToken<T> {
  if (dataSource === undefined || dataSource === DataSource) return base;
  return `nestjs-transactional-outbox:${nameOfToken(base)}:${nameOfToken(dataSource)}`;
}

/** Text for messages: the name of a class, or the token itself. */
export function nameOfToken(token: InjectionToken): string {
  return typeof token === 'function' ? token.name : String(token);
}
