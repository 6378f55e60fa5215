import { Body, ConflictException, Get, Inject, Post, Query, Req, Res } from '@nestjs/common';
import { type DashboardServices, SERVICES } from '../dashboard-services.js';
import { Fields } from './fields.js';
import { BLOCKED_KEY_FILTER, blockedKeyFilter } from './filters.js';
import { CHANGE, Operator } from './operator.js';
import { Replies } from './replies.js';

const LONGEST_LIST = 100;

/** Aggregates that wait, and letting them go on. */
export class BlockedKeyController {
  constructor(
    @Inject(SERVICES) private readonly services: DashboardServices,
    @Inject(Operator) private readonly operator: Operator,
    @Inject(Replies) private readonly replies: Replies,
  ) {}

  @Get()
  async list(@Query() query: unknown, @Res() response: unknown): Promise<void> {
    const filter = blockedKeyFilter(Fields.of(query, BLOCKED_KEY_FILTER));
    const found = await this.services.blockedKeys.list(filter, { limit: LONGEST_LIST + 1 });
    this.replies.json(response, {
      blockedKeys: found.slice(0, LONGEST_LIST),
      hasMore: found.length > LONGEST_LIST,
    });
  }

  @Post('release')
  async release(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const fields = Fields.of(body, [...BLOCKED_KEY_FILTER, ...CHANGE]);
    const key = {
      destination: fields.requiredText('destination', 100),
      aggregateType: fields.requiredText('aggregateType'),
      aggregateId: fields.requiredText('aggregateId'),
    };
    const count = await this.services.blockedKeys.release(key, this.operator.changeOf(request, fields));
    if (count === 0) throw new ConflictException('It is not held by a dead letter any more. Look again.');
    this.replies.json(response, { count });
  }
}
