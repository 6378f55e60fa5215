import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, type DynamicModule, Get, Inject, Module, Req, Res } from '@nestjs/common';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';

@Controller('metrics')
class MetricsController {
  constructor(@Inject(PrometheusExporter) private readonly exporter: PrometheusExporter) {}

  @Get()
  collect(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    this.exporter.getMetricsRequestHandler(request, response);
  }
}

@Module({ controllers: [MetricsController] })
class MetricsModule {}

/** Answers `GET /metrics` with Prometheus text. */
export function metricsModule(exporter: PrometheusExporter): DynamicModule {
  return { module: MetricsModule, providers: [{ provide: PrometheusExporter, useValue: exporter }] };
}
