import { Logger } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';

const STRUCTURED = 'application/cloudevents+json';

/** What Fastify's instance tells about its parsers. */
interface ParserRegistry {
  hasContentTypeParser(type: string): boolean;
}

/**
 * Fastify answers 415 by itself to a type that it has no parser for, and senders give such a message up. Nothing here
 * would ever see it, so it is said when the application starts. (Express lets it through, and the guard puts it off.)
 */
export function warnAboutBodyParser({ httpAdapter }: HttpAdapterHost): void {
  const instance: unknown = httpAdapter?.getInstance();
  if (!isParserRegistry(instance) || instance.hasContentTypeParser(STRUCTURED)) return;
  new Logger('Inbox').warn(
    `Fastify has no parser for ${STRUCTURED} and will answer such events with 415. Call app.useBodyParser('${STRUCTURED}') before the application listens.`,
  );
}

function isParserRegistry(instance: unknown): instance is ParserRegistry {
  return typeof (instance as Partial<ParserRegistry> | undefined)?.hasContentTypeParser === 'function';
}
