import { Body, ConflictException, Inject, Post, Req, Res } from '@nestjs/common';
import { type DashboardServices, SERVICES } from '../dashboard-services.js';
import { Fields } from './fields.js';
import { CHANGE, Operator } from './operator.js';
import { Replies } from './replies.js';

/** Pauses and resumes destinations. */
export class DestinationController {
  constructor(
    @Inject(SERVICES) private readonly services: DashboardServices,
    @Inject(Operator) private readonly operator: Operator,
    @Inject(Replies) private readonly replies: Replies,
  ) {}

  @Post('pause')
  async pause(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const fields = Fields.of(body, ['destination', ...CHANGE]);
    const destination = fields.requiredText('destination', 100);
    const isPaused = await this.services.destinations.pause(destination, this.operator.changeOf(request, fields));
    if (!isPaused) throw new ConflictException(`"${destination}" is paused already.`);
    this.replies.json(response, { count: 1 });
  }

  @Post('resume')
  async resume(@Body() body: unknown, @Req() request: unknown, @Res() response: unknown): Promise<void> {
    const fields = Fields.of(body, ['destination', ...CHANGE]);
    const destination = fields.requiredText('destination', 100);
    const isResumed = await this.services.destinations.resume(destination, this.operator.changeOf(request, fields));
    if (!isResumed) throw new ConflictException(`"${destination}" is not paused.`);
    this.replies.json(response, { count: 1 });
  }
}
