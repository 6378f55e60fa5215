import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { OutboxHealthIndicator } from 'nestjs-transactional-outbox/health';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly outbox: OutboxHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.outbox.isHealthy('outbox')]);
  }
}

/** Answers `GET /health`: 503 when there are events and none is delivered. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [OutboxHealthIndicator],
})
export class HealthModule {}
