import 'reflect-metadata';
import { applyDecorators, type InjectionToken, UseGuards } from '@nestjs/common';
import { ConfigurationError } from '../errors/index.js';
import type { EventClass } from '../event/index.js';
import { InboxGuard } from './inbox.guard.js';
import { MAX_CONSUMER_CHARACTERS } from './processed-entry.js';

export interface InboxConsumerOptions {
  /** Store the handler's answer with the record and give it to duplicates; JSON of at most 1 MiB. Default false. */
  readonly keepResult?: boolean;
  /** Types that the handler takes, as event classes or text; default those of `@InboxEvent`, else all. */
  readonly events?: readonly (EventClass | string)[];
  /** Token of the DataSource whose inbox is meant, as given to InboxModule. Needed only beside several inboxes. */
  readonly dataSource?: InjectionToken;
}

export interface ConsumerDeclaration extends InboxConsumerOptions {
  readonly consumer: string;
}

const CONSUMER = Symbol('nestjs-transactional-outbox:inbox-consumer');

/**
 * Names the consumer for which a handler, or all guarded handlers of a controller, process events. The name is the key
 * of the records: renamed, the consumer would process everything that is delivered again a second time.
 *
 * @throws ConfigurationError while the class is defined, unless the name has 1 to 100 characters.
 */
export function InboxConsumer(consumer: string, options: InboxConsumerOptions = {}): MethodDecorator & ClassDecorator {
  return (target: object, member?: string | symbol, descriptor?: PropertyDescriptor) => {
    const where = member === undefined ? (target as { name?: string }).name : String(member);
    if (typeof consumer !== 'string' || consumer.trim() === '' || consumer.length > MAX_CONSUMER_CHARACTERS) {
      throw new ConfigurationError(
        `@InboxConsumer on ${where}: the name is ${JSON.stringify(consumer)}; it has 1 to ${MAX_CONSUMER_CHARACTERS} characters.`,
      );
    }
    const declaration: ConsumerDeclaration = { ...options, consumer };
    Reflect.defineMetadata(CONSUMER, declaration, (descriptor?.value as object | undefined) ?? target);
  };
}

/** `@UseGuards(InboxGuard)` and `@InboxConsumer` in one word. */
export function Inbox(consumer: string, options?: InboxConsumerOptions): MethodDecorator & ClassDecorator {
  return applyDecorators(UseGuards(InboxGuard), InboxConsumer(consumer, options));
}

/** What `@InboxConsumer` said of this very method or class (or a class that it extends). */
export function findConsumer(target: object): ConsumerDeclaration | undefined {
  return Reflect.getMetadata(CONSUMER, target) as ConsumerDeclaration | undefined;
}
