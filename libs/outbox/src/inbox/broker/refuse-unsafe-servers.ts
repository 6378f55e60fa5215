import { Logger } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../../errors/index.js';
import type { HandlerMethod } from '../handler-method.js';

/** What is looked at of Nest's servers, which have no name but that of their class. */
interface MicroserviceServer {
  readonly transportId?: unknown;
  readonly noAck?: boolean;
  readonly options?: { readonly run?: { readonly autoCommit?: boolean } };
}

/**
 * Refuses servers that acknowledge a message before it is processed: what a crash interrupts would be lost. A server that
 * is connected only after the start is complained of in the log.
 *
 * @throws ConfigurationError
 */
export function refuseUnsafeServers(modules: ModulesContainer, handlers: readonly HandlerMethod[]): void {
  if (handlers.every(({ subscription }) => subscription === undefined)) return;
  const problems: string[] = [];
  let isStarting = true;
  modules.getRpcTargetRegistry<MicroserviceServer>().subscribe((server) => {
    const problem = gets(handlers, server) ? problemOf(server) : undefined;
    if (problem === undefined) return;
    if (isStarting) problems.push(problem);
    else new Logger('Inbox').error(problem);
  });
  isStarting = false;
  if (problems.length > 0) throw new ConfigurationError(problems.join(' '));
}

function gets(handlers: readonly HandlerMethod[], { transportId }: MicroserviceServer): boolean {
  return handlers.some(
    ({ subscription }) =>
      subscription !== undefined &&
      (subscription.transportId === undefined || subscription.transportId === transportId),
  );
}

function problemOf(server: MicroserviceServer): string | undefined {
  const kind = server.constructor.name;
  if (kind === 'ServerRMQ' && server.noAck !== false) {
    return 'the RabbitMQ server of this application takes messages as acknowledged when they are sent ("noAck" is true, as Nest has it by default), so an event whose handler fails would be lost. Set "noAck: false" in its options.';
  }
  if (kind === 'ServerKafka' && server.options?.run?.autoCommit !== false) {
    return 'the Kafka server of this application commits offsets by itself, so an event whose handler fails could be lost. Set "run: { autoCommit: false }" in its options; the inbox commits after the transaction.';
  }
  return undefined;
}
