import { Body, ConflictException, Get, Inject, NotFoundException, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { DeadLetterDetails } from '../../../store/index.js';
import { type DashboardServices, SERVICES } from '../dashboard-services.js';
import { Fields } from './fields.js';
import { DEAD_LETTER_FILTER, deadLetterFilter } from './filters.js';
import { CHANGE, Operator } from './operator.js';
import { Replies } from './replies.js';

const PAGE_SIZE = 50;
const LARGEST_PAGE = 200;
const MOST = 1_000_000_000;

/** What was given up. A list holds no payloads; one is sent when it is asked for by its id. */
export class DeadLetterController {
  constructor(
    @Inject(SERVICES) private readonly services: DashboardServices,
    @Inject(Operator) private readonly operator: Operator,
    @Inject(Replies) private readonly replies: Replies,
  ) {}

  @Get()
  async list(@Query() query: unknown, @Res() response: unknown): Promise<void> {
    const fields = Fields.of(query, [...DEAD_LETTER_FILTER, 'after', 'limit']);
    const limit = fields.wholeNumber('limit', 1, LARGEST_PAGE) ?? PAGE_SIZE;
    const page = { limit: limit + 1, after: fields.text('after', 20) };
    const found = await this.services.deadLetters.list(deadLetterFilter(fields), page);
    const deadLetters = found.slice(0, limit);
    this.replies.json(response, { deadLetters, next: found.length > limit ? deadLetters.at(-1)?.id : undefined });
  }

  /** What a change with this filter would reach. A body, because a list of ids has no room in an address. */
  @Post('count')
  async count(@Body() body: unknown, @Res() response: unknown): Promise<void> {
    const filter = deadLetterFilter(Fields.of(body, DEAD_LETTER_FILTER));
    this.replies.json(response, { count: await this.services.deadLetters.count(filter) });
  }

  @Get(':id')
  async show(@Param('id') id: string, @Res() response: unknown): Promise<void> {
    const { payload, headers: _headers, ...details } = await this.find(id);
    this.replies.json(response, { ...details, payloadCharacters: payload?.length });
  }

  @Get(':id/payload')
  async payload(@Param('id') id: string, @Res() response: unknown): Promise<void> {
    const { payload, headers } = await this.find(id);
    this.replies.json(response, { payload, headers });
  }

  @Post('redrive')
  async redrive(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const fields = Fields.of(body, [...DEAD_LETTER_FILTER, ...CHANGE, 'atMost', 'perSecond']);
    const change = this.operator.changeOf(request, fields);
    const options = { limit: atMost(fields), perSecond: fields.wholeNumber('perSecond', 1, 10_000) };
    const count = await this.services.deadLetters.redrive(deadLetterFilter(fields), change, options);
    this.replies.json(response, { count: some(count) });
  }

  @Post('discard')
  async discard(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const fields = Fields.of(body, [...DEAD_LETTER_FILTER, ...CHANGE, 'atMost']);
    const change = this.operator.changeOf(request, fields);
    const options = { limit: atMost(fields) };
    const count = await this.services.deadLetters.discard(deadLetterFilter(fields), change, options);
    this.replies.json(response, { count: some(count) });
  }

  private async find(id: string): Promise<DeadLetterDetails> {
    const found = await this.services.deadLetters.show(id);
    if (found === undefined) throw new NotFoundException(`${id} is no dead letter, or none any more.`);
    return found;
  }
}

/** As many as the person was shown, and not those that have come since. */
function atMost(fields: Fields): number {
  return fields.requiredNumber('atMost', 1, MOST);
}

function some(count: number): number {
  if (count > 0) return count;
  throw new ConflictException('Nothing matches any more, so nothing was changed. Look again.');
}
