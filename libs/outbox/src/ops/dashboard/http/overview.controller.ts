import { Get, Inject, Query, Req, Res, ServiceUnavailableException } from '@nestjs/common';
import { wallClockMs } from '../../../runtime/index.js';
import { DashboardFigures } from '../dashboard-figures.js';
import { DashboardHistory } from '../dashboard-history.js';
import { type DashboardServices, SERVICES } from '../dashboard-services.js';
import { ReplayRun } from '../replay-run.js';
import { Fields } from './fields.js';
import { Operator } from './operator.js';
import { Replies } from './replies.js';

/** What is read again and again while the page is open. */
export class OverviewController {
  constructor(
    @Inject(SERVICES) private readonly services: DashboardServices,
    @Inject(DashboardFigures) private readonly figures: DashboardFigures,
    @Inject(DashboardHistory) private readonly history: DashboardHistory,
    @Inject(ReplayRun) private readonly replay: ReplayRun,
    @Inject(Operator) private readonly operator: Operator,
    @Inject(Replies) private readonly replies: Replies,
  ) {}

  @Get('overview')
  async overview(@Req() request: unknown, @Res() response: unknown): Promise<void> {
    this.replies.json(response, {
      at: new Date(wallClockMs()),
      operator: this.operator.nameOf(request),
      hasInbox: this.services.inbox !== undefined,
      replay: this.replay.current(),
      destinations: await this.figures.read().catch((error: unknown) => {
        throw new ServiceUnavailableException('The database does not answer.', { cause: error });
      }),
    });
  }

  @Get('history')
  samples(@Query() query: unknown, @Res() response: unknown): void {
    const after = Fields.of(query, ['after']).wholeNumber('after', 0, Number.MAX_SAFE_INTEGER) ?? 0;
    this.replies.json(response, { sampleEveryMs: this.history.sampleEveryMs, samples: this.history.since(after) });
  }

  @Get('operations')
  async operations(@Query() query: unknown, @Res() response: unknown): Promise<void> {
    const limit = Fields.of(query, ['limit']).wholeNumber('limit', 1, 1000) ?? 50;
    this.replies.json(response, { operations: await this.services.operations.list({ limit }) });
  }
}
