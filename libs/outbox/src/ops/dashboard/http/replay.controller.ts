import { Body, ConflictException, Inject, Post, Req, Res } from '@nestjs/common';
import { type DashboardServices, SERVICES } from '../dashboard-services.js';
import { ReplayRun } from '../replay-run.js';
import { Fields } from './fields.js';
import { REPLAY_FILTER, replayFilter } from './filters.js';
import { CHANGE, Operator } from './operator.js';
import { Replies } from './replies.js';

/** Sends events again that were delivered. */
export class ReplayController {
  constructor(
    @Inject(SERVICES) private readonly services: DashboardServices,
    @Inject(ReplayRun) private readonly run: ReplayRun,
    @Inject(Operator) private readonly operator: Operator,
    @Inject(Replies) private readonly replies: Replies,
  ) {}

  @Post('preview')
  async preview(@Body() body: unknown, @Res() response: unknown): Promise<void> {
    const filter = replayFilter(Fields.of(body, REPLAY_FILTER));
    this.replies.json(response, { destinations: await this.services.replays.preview(filter) });
  }

  @Post()
  async start(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const fields = Fields.of(body, [...REPLAY_FILTER, ...CHANGE, 'atMost', 'perSecond']);
    const change = this.operator.changeOf(request, fields);
    const limits = {
      atMost: fields.requiredNumber('atMost', 1, 1_000_000),
      perSecond: fields.wholeNumber('perSecond', 1, 10_000),
    };
    const replay = await this.run.start(replayFilter(fields), change, limits);
    if (replay.total === 0) throw new ConflictException('Nothing matches any more, so nothing is sent. Look again.');
    this.replies.json(response, { replay });
  }

  @Post('stop')
  stop(@Body() body: unknown, @Res() response: unknown): void {
    Fields.of(body, []);
    if (!this.run.stop()) throw new ConflictException('No replay runs here.');
    this.replies.json(response, {});
  }
}
