import { context, metrics, propagation, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of a histogram, how many values it has. */
  readonly value: number;
}

/** Collects when a test asks. */
class ReaderOnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {
    // Nothing is exported.
  }

  protected override async onShutdown(): Promise<void> {
    // Nothing is held.
  }
}

/** A real SDK that keeps everything in memory. Start it before the application, as a user has to. */
export class Telemetry {
  private readonly spanExporter = new InMemorySpanExporter();
  private readonly tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.spanExporter)],
  });
  private readonly reader = new ReaderOnDemand();
  private readonly meterProvider = new MeterProvider({ readers: [this.reader] });

  /** Another file of the same process must find nothing of it: `stop()`. */
  start(): this {
    const w3c = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new CompositePropagator({ propagators: w3c }));
    trace.setGlobalTracerProvider(this.tracerProvider);
    metrics.setGlobalMeterProvider(this.meterProvider);
    return this;
  }

  async stop(): Promise<void> {
    for (const api of [trace, metrics, propagation, context]) api.disable();
    await Promise.all([this.tracerProvider.shutdown(), this.meterProvider.shutdown()]);
  }

  /** Ended ones, of which the name begins so. */
  spans(name: string): ReadableSpan[] {
    return this.spanExporter.getFinishedSpans().filter((span) => span.name.startsWith(name));
  }

  /** The only one. */
  span(name: string): ReadableSpan {
    const [span, ...others] = this.spans(name);
    if (span === undefined || others.length > 0) throw new Error(`not one span "${name}" but ${others.length + 1}`);
    return span;
  }

  forgetSpans(): void {
    this.spanExporter.reset();
  }

  /** Runs work as an instrumented request would. */
  within<T>(name: string, work: (span: Span) => Promise<T>): Promise<T> {
    return trace.getTracer('test').startActiveSpan(name, (span) => work(span).finally(() => span.end()));
  }

  /** What a metric says now. @throws what an observation failed of. */
  async points(metric: string): Promise<Point[]> {
    const { resourceMetrics, errors } = await this.reader.collect();
    if (errors.length > 0) throw new AggregateError(errors, 'an observation failed');
    const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return all
      .filter(({ descriptor }) => descriptor.name === metric)
      .flatMap<Point>(({ dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          attributes,
          value: typeof value === 'number' ? value : value.count,
        })),
      );
  }

  /** The value at the point with all of these attributes; undefined without one. */
  async value(metric: string, attributes: Readonly<Record<string, unknown>>): Promise<number | undefined> {
    const matches = (point: Point): boolean =>
      Object.entries(attributes).every(([name, value]) => point.attributes[name] === value);
    const found = (await this.points(metric)).filter(matches);
    if (found.length > 1) throw new Error(`${found.length} points of ${metric} match`);
    return found[0]?.value;
  }
}
