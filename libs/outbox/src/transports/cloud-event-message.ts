import type { CloudEvent } from 'cloudevents';
import { describeError } from '../errors/index.js';
import { envelopeToCloudEvent } from '../event/index.js';
import type { Dead } from './publish-outcome.js';
import type { OutgoingEvent } from './transport.js';

export const JSON_TYPE = 'application/json';
/** Spelled as the CloudEvents bindings spell it. */
export const STRUCTURED_TYPE = 'application/cloudevents+json; charset=UTF-8';

/** A CloudEvent in binary mode: the payload is the body, and everything else is beside it. */
export interface CloudEventMessage {
  /** Every attribute but `datacontenttype`, by its name, as text. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The payload as JSON; its type is `application/json`. */
  readonly body: Buffer;
}

/** An event that CloudEvents cannot express will not become expressible: a dead letter, not a retry. */
export function toCloudEventMessage({ envelope }: OutgoingEvent, source: string): CloudEventMessage | Dead {
  return expressed(() => {
    const { data, datacontenttype: _, ...attributes } = envelopeToCloudEvent(envelope, source).toJSON();
    return {
      attributes: Object.fromEntries(
        Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
      ),
      body: Buffer.from(JSON.stringify(data ?? null)),
    };
  });
}

/** The same in structured mode: the whole event is the body. */
export function toStructuredCloudEvent({ envelope }: OutgoingEvent, source: string): string | Dead {
  return expressed(() => envelopeToCloudEvent(envelope, source).toString());
}

/** The event as a JSON value, for channels that write JSON by themselves. */
export function toCloudEventJson({ envelope }: OutgoingEvent, source: string): object | Dead {
  return expressed((): ReturnType<CloudEvent<unknown>['toJSON']> => envelopeToCloudEvent(envelope, source).toJSON());
}

export function isDead(value: unknown): value is Dead {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'dead';
}

function expressed<T>(write: () => T): T | Dead {
  try {
    return write();
  } catch (error) {
    return { kind: 'dead', error: `the event cannot be written as a CloudEvent: ${describeError(error)}` };
  }
}
