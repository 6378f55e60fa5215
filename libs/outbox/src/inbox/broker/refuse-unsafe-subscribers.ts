import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../../errors/index.js';
import type { HandlerMethod } from '../handler-method.js';
import type { GolevelupHandler } from './golevelup-handler.js';

/** What is looked at of golevelup's `AmqpConnection`. */
interface AmqpConnection {
  readonly configuration: {
    readonly name: string;
    readonly defaultHandler: string;
    readonly handlers: Readonly<Record<string, GolevelupHandler | readonly GolevelupHandler[]>>;
    readonly defaultSubscribeErrorBehavior: string;
    readonly deserializer: (body: Buffer) => unknown;
  };
}

/**
 * Refuses `@RabbitSubscribe` handlers whose settings would lose messages, or deliver one without end.
 *
 * @throws ConfigurationError
 */
export function refuseUnsafeSubscribers(modules: ModulesContainer, handlers: readonly HandlerMethod[]): void {
  const problems = handlers.flatMap(({ where, golevelup }) =>
    golevelup === undefined
      ? []
      : connectionsOf(modules)
          .flatMap((connection) => settingsOf(golevelup, connection))
          .map((settings) => problemOf(settings))
          .filter((problem) => problem !== undefined)
          .map((problem) => `${where} ${problem}`),
  );
  if (problems.length > 0) throw new ConfigurationError([...new Set(problems)].join(' '));
}

function connectionsOf(modules: ModulesContainer): AmqpConnection[] {
  const instances = [...modules.values()].flatMap(({ providers }) =>
    [...providers.values()].map(({ instance }) => instance as unknown),
  );
  return [...new Set(instances)].filter(isConnection);
}

function isConnection(instance: unknown): instance is AmqpConnection {
  return (
    typeof instance === 'object' &&
    instance?.constructor?.name === 'AmqpConnection' &&
    (instance as Partial<AmqpConnection>).configuration !== undefined
  );
}

/** What golevelup makes of the decorator, the options of the connection and those for the handler's name. */
function settingsOf(handler: GolevelupHandler, { configuration }: AmqpConnection): GolevelupHandler[] {
  if (handler.connection !== undefined && handler.connection !== configuration.name) return [];
  const { defaultSubscribeErrorBehavior: errorBehavior, deserializer } = configuration;
  const name = handler.name || configuration.defaultHandler;
  const named = name === '' ? [{}] : [configuration.handlers[name] ?? []].flat();
  return named.map((more) => ({ errorBehavior, deserializer, ...handler, ...more }));
}

function problemOf(settings: GolevelupHandler): string | undefined {
  if (settings.type === 'rpc') {
    return 'is guarded by InboxGuard and carries @RabbitRPC, which the inbox does not take: an event has nobody who waits for an answer. Use @RabbitSubscribe.';
  }
  if (settings.batchOptions !== undefined) {
    return 'gets messages in batches ("batchOptions"), of which each would need a transaction of its own. Take the option away.';
  }
  if (settings.queueOptions?.consumerOptions?.noAck === true) {
    return 'gets messages that are acknowledged when they are sent ("noAck"), so an event whose handler fails would be lost. Take the option away.';
  }
  if (settings.errorHandler !== undefined || settings.errorBehavior !== 'REQUEUE') {
    return 'would lose events that have to come again ("errorHandler", or an error behaviour that is not REQUEUE). Leave golevelup\'s default; the inbox holds a message until it may come again, and parks what cannot be processed.';
  }
  if (settings.allowNonJsonMessages !== true && failsOnNoJson(settings.deserializer)) {
    return 'would get a message that is no JSON without end, because golevelup fails on it before the inbox sees it. Set "allowNonJsonMessages: true"; the inbox parks such a message.';
  }
  return undefined;
}

function failsOnNoJson(deserialize: GolevelupHandler['deserializer']): boolean {
  try {
    deserialize?.(Buffer.from('no JSON'), { properties: {}, fields: {} });
    return false;
  } catch {
    return true;
  }
}
