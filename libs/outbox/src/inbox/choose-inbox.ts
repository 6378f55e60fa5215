import type { InjectionToken } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nameOfToken } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';

/**
 * The inbox that a handler means: the one that it names, else the only one, else that of the default DataSource.
 *
 * @param inboxes tokens of the DataSources that have one.
 * @throws ConfigurationError when there is no such inbox.
 */
export function chooseInbox(
  where: string,
  named: InjectionToken | undefined,
  inboxes: readonly InjectionToken[],
): InjectionToken {
  const [only, ...others] = inboxes;
  const chosen = named ?? (others.length === 0 ? only : DataSource);
  if (chosen !== undefined && inboxes.includes(chosen)) return chosen;
  throw new ConfigurationError(
    `${where} belongs to the inbox of the DataSource ${nameOfToken(chosen ?? DataSource)}, which has none. There are inboxes for: ${inboxes.map(nameOfToken).join(', ')}. Name one of them as "dataSource" of @InboxConsumer.`,
  );
}
