import type { RawMessage } from '../../store/index.js';
import { headerTexts } from './header-texts.js';

/** What is used of a message of amqplib. */
export interface AmqpMessage {
  readonly content: Buffer;
  readonly fields: { readonly exchange?: string; readonly routingKey?: string };
  readonly properties: { readonly contentType?: string; readonly headers?: Readonly<Record<string, unknown>> };
}

export function toRawMessage({ content, fields, properties }: AmqpMessage): RawMessage {
  return {
    source: `RabbitMQ exchange "${fields.exchange ?? ''}", routing key "${fields.routingKey ?? ''}"`,
    contentType: properties.contentType ?? '',
    headers: headerTexts(properties.headers),
    body: content,
  };
}
