import {
  BadRequestException,
  Body,
  ConflictException,
  Get,
  Inject,
  Logger,
  NotFoundException,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { logLine } from '../../../runtime/index.js';
import { type DashboardServices, SERVICES } from '../dashboard-services.js';
import { Fields } from './fields.js';
import { CHANGE, Operator } from './operator.js';
import { Replies } from './replies.js';

const LONGEST_LIST = 100;

/** The consuming side of this application. Its tables may be in another database, so the record of a change is a line of the log. */
export class InboxController {
  private readonly logger = new Logger('OutboxDashboard');

  constructor(
    @Inject(SERVICES) private readonly services: DashboardServices,
    @Inject(Operator) private readonly operator: Operator,
    @Inject(Replies) private readonly replies: Replies,
  ) {}

  @Get()
  async read(@Query() query: unknown, @Res() response: unknown): Promise<void> {
    Fields.of(query, []);
    const { backlog, parked } = this.inbox();
    const [consumers, found] = await Promise.all([backlog.read(), parked.list({ limit: LONGEST_LIST + 1 })]);
    this.replies.json(response, {
      consumers,
      parked: found.slice(0, LONGEST_LIST).map(({ body, headers: _headers, ...message }) => ({
        ...message,
        bodyBytes: body.length,
      })),
      hasMore: found.length > LONGEST_LIST,
    });
  }

  @Get('parked/:id/body')
  async body(@Param('id') id: string, @Res() response: unknown): Promise<void> {
    if (!/^\d{1,18}$/.test(id)) throw new BadRequestException('Ids of parked messages are numbers.');
    const [message] = await this.inbox().parked.list({ ids: [id] });
    if (message === undefined) throw new NotFoundException(`${id} is not parked, or not any more.`);
    this.replies.json(response, { payload: message.body.toString('utf8'), headers: message.headers });
  }

  @Post('redrive')
  async redrive(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const { ids, change } = this.asked(body, request);
    const { processed, failed } = await this.inbox().parked.redrive({ ids, limit: ids.length });
    this.note('parked messages redriven by hand', change, { processed: processed.length, failed: failed.length });
    if (processed.length + failed.length === 0) throw new ConflictException('Not parked any more. Look again.');
    this.replies.json(response, { count: processed.length, failed: failed.length });
  }

  @Post('discard')
  async discard(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const { ids, change } = this.asked(body, request);
    const count = await this.inbox().parked.discard({ ids });
    this.note('parked messages discarded by hand', change, { count });
    if (count === 0) throw new ConflictException('Not parked any more. Look again.');
    this.replies.json(response, { count });
  }

  private asked(body: unknown, request: unknown) {
    const fields = Fields.of(body, ['ids', ...CHANGE]);
    const ids = fields.ids('ids');
    if (ids === undefined || !ids.every((id) => /^\d+$/.test(id))) {
      throw new BadRequestException('"ids" must name parked messages by their numbers.');
    }
    return { ids, change: this.operator.changeOf(request, fields) };
  }

  private note(phrase: string, change: { by: string; reason: string }, counts: Record<string, number>): void {
    this.logger.log(logLine(phrase, { ...change, ...counts }));
  }

  private inbox(): NonNullable<DashboardServices['inbox']> {
    const { inbox } = this.services;
    if (inbox === undefined) throw new NotFoundException('This application has no inbox.');
    return inbox;
  }
}
