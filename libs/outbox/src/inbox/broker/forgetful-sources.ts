import { bodyOf } from './body-of.js';
import { headerTexts } from './header-texts.js';
import type { MessageSource } from './message-source.js';

/** What is used of `NatsContext`. */
interface NatsContext {
  getSubject(): string;
  getHeaders(): NatsHeaders | undefined;
}

interface NatsHeaders {
  keys(): Iterable<string>;
  get(name: string): string;
}

/** Nest's NATS server, which listens to subjects and not to a stream: what is not processed is gone. */
export const natsSource: MessageSource = {
  name: 'NATS',
  redelivers: false,
  isSourceOf: (context) => 'getSubject' in context,
  raw(context, data) {
    const nats = context as NatsContext;
    const headers = nats.getHeaders?.();
    const names = headers === undefined ? [] : [...headers.keys()];
    const texts = Object.fromEntries(names.map((name) => [name.toLowerCase(), headers?.get(name) ?? '']));
    return {
      source: `NATS subject "${nats.getSubject()}"`,
      contentType: texts['content-type'] ?? '',
      headers: headerTexts(texts),
      body: bodyOf(data),
    };
  },
};

/** Nest's Redis server, which subscribes to channels: what is not processed is gone. */
export const redisSource: MessageSource = {
  name: 'Redis',
  redelivers: false,
  isSourceOf: (context) => 'getChannel' in context,
  raw: (context, data) => ({
    source: `Redis channel "${(context as { getChannel(): string }).getChannel()}"`,
    contentType: '',
    headers: {},
    body: bodyOf(data),
  }),
};

/** Nest's TCP server. */
export const tcpSource: MessageSource = {
  name: 'TCP',
  redelivers: false,
  isSourceOf: (context) => 'getSocketRef' in context,
  raw: (context, data) => ({
    source: `TCP pattern "${(context as { getPattern(): string }).getPattern()}"`,
    contentType: '',
    headers: {},
    body: bodyOf(data),
  }),
};
