import { type Meter, metrics, ProxyTracerProvider, type Tracer, trace } from '@opentelemetry/api';

/** Under which name of an instrumentation scope everything here is reported. */
const SCOPE = 'nestjs-transactional-outbox';

/** Nothing that it makes does anything unless the application has set an SDK up before. */
export function libraryMeter(): Meter {
  return metrics.getMeter(SCOPE);
}

export function libraryTracer(): Tracer {
  return trace.getTracer(SCOPE);
}

/** False while no SDK records spans: then nothing is made for an event that nobody would see. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  // Another copy of the API registers a class of its own; then somebody has set something up.
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(SCOPE) !== undefined;
}
