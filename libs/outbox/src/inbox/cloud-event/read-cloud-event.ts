import { CloudEvent, ValidationError } from 'cloudevents';
import { InboxRefusedError } from '../../errors/index.js';
import { cloudEventToReceivedEvent, type ReceivedEvent } from '../../event/index.js';
import { isJson } from './media-type.js';

const STRUCTURED = 'application/cloudevents';
const BATCH = 'application/cloudevents-batch';

/** What a protocol has received, before anybody has looked into it. */
export interface ReceivedMessage {
  /** Lower case, without parameters; empty when nothing was said. */
  readonly mediaType: string;
  readonly body: string;
  /** What is beside the body and carries attributes in binary mode, for messages: `ce- headers`. */
  readonly attributesAre: string;
  /** Those attributes by their names; empty when there are none. */
  attributes(): Readonly<Record<string, string>>;
}

/**
 * Reads a CloudEvent 1.0 in structured or binary mode, whatever protocol it came by.
 *
 * @throws InboxRefusedError 400 when it is none, 422 for batches and binary data.
 */
export function readCloudEvent(message: ReceivedMessage): ReceivedEvent {
  const { mediaType, body } = message;
  if (mediaType.startsWith(BATCH)) {
    throw new InboxRefusedError('batches of events are not taken here; send each event by itself.', 422);
  }
  const attributes = mediaType.startsWith(STRUCTURED) ? structuredAttributes(body) : binaryModeEvent(message);
  requireIdentity(attributes);
  const received = cloudEventToReceivedEvent(validate(attributes));
  // The package fills in the present for a time that is missing, which would be this delivery's and not the event's.
  return attributes.time === undefined ? { ...received, createdAt: undefined } : received;
}

type Attributes = Record<string, unknown>;

/** A member that is null counts as absent (JSON Event Format), except for the data, where it is a value. */
function structuredAttributes(body: string): Attributes {
  const event = parseJson(body);
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new InboxRefusedError('the body is no CloudEvent: it is no JSON object.', 400);
  }
  return Object.fromEntries(Object.entries(event).filter(([name, value]) => value !== null || name === 'data'));
}

function binaryModeEvent(message: ReceivedMessage): Attributes {
  const { mediaType, body } = message;
  const attributes = message.attributes();
  if (Object.keys(attributes).length === 0) {
    throw new InboxRefusedError(
      `the message is no CloudEvent: it has neither content-type application/cloudevents+json nor ${message.attributesAre}.`,
      400,
    );
  }
  requireJsonType(mediaType);
  return { ...attributes, datacontenttype: mediaType, data: body === '' ? undefined : parseJson(body) };
}

/** The package would make up an id that is missing, and with it a new event at every delivery. */
function requireIdentity({ id, specversion, data_base64, datacontenttype }: Attributes): void {
  if (typeof id !== 'string' || id === '') {
    throw new InboxRefusedError('the CloudEvent has no "id", or it is no text.', 400);
  }
  if (specversion !== '1.0') {
    throw new InboxRefusedError('the CloudEvent has another "specversion" than 1.0.', 400);
  }
  if (data_base64 !== undefined) throw notJson();
  if (typeof datacontenttype === 'string') requireJsonType(datacontenttype.toLowerCase());
}

function requireJsonType(mediaType: string): void {
  if (!isJson(mediaType)) throw notJson();
}

function notJson(): InboxRefusedError {
  return new InboxRefusedError('the data of the CloudEvent is not JSON.', 422);
}

function validate(attributes: Attributes): CloudEvent<unknown> {
  try {
    return new CloudEvent<unknown>(attributes);
  } catch (error) {
    throw new InboxRefusedError('the message breaks the rules of CloudEvents 1.0.', 400, {
      cause: error,
      problems: problemsOf(error),
    });
  }
}

/** The package gives the schema's complaints as a list, or one of its own as text. */
function problemsOf(error: unknown): string[] {
  if (!(error instanceof ValidationError)) return [];
  const complaints = (error.errors as unknown[]).map((complaint) => {
    const { instancePath = '', message = '' } = complaint as { instancePath?: string; message?: string };
    return `${instancePath.slice(1)} ${message}`.trim();
  });
  return complaints.length > 0 ? complaints : error.message.split('\n', 1);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InboxRefusedError('the body is no JSON.', 400, { cause: error });
  }
}
