import { ForbiddenException, Inject, Injectable } from '@nestjs/common';
import type { ManualChange } from '../../../store/index.js';
import type { ResolvedDashboardOptions } from '../dashboard-options.js';
import { OPTIONS } from '../dashboard-services.js';
import type { Fields } from './fields.js';

/** The fields of every change; `by` only where the application does not know who asks. */
export const CHANGE = ['by', 'reason'] as const;

/** Says who changes something, and why. */
@Injectable()
export class Operator {
  constructor(@Inject(OPTIONS) private readonly options: ResolvedDashboardOptions) {}

  /** The name by which this request is known; undefined where the page has to ask. */
  nameOf(request: unknown): string | undefined {
    const { operator } = this.options;
    if (operator === undefined) return undefined;
    const name: unknown = operator(request);
    if (typeof name === 'string' && name.trim() !== '') return name;
    throw new ForbiddenException('The application does not say who you are, so nothing can be changed.');
  }

  changeOf(request: unknown, fields: Fields): ManualChange {
    return {
      by: this.nameOf(request) ?? fields.requiredText('by', 200),
      reason: fields.requiredText('reason', 1000),
    };
  }
}
