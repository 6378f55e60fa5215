import { createHash } from 'node:crypto';

/** What Amazon allows in a message group id (SQS API Reference, "SendMessageBatchRequestEntry"). */
const ALLOWED = /^[\w!"#$%&'()*+,./:;<=>?@[\\\]^`{|}~-]{1,128}$/;

/** The text itself where SQS takes it as the id of a group, else its SHA-256: equal texts stay in one group. */
export function toGroupId(text: string): string {
  return ALLOWED.test(text) ? text : createHash('sha256').update(text).digest('hex');
}
