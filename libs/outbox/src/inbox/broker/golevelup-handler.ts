import 'reflect-metadata';

/** What `@RabbitSubscribe` and `@RabbitRPC` of `@golevelup/nestjs-rabbitmq` say, as far as it is looked at. */
export interface GolevelupHandler {
  readonly type?: 'subscribe' | 'rpc';
  /** Key of the settings for it in the options of the module. */
  readonly name?: string;
  /** Name of the connection that it is limited to. */
  readonly connection?: string;
  readonly errorBehavior?: string;
  readonly errorHandler?: unknown;
  readonly batchOptions?: unknown;
  readonly allowNonJsonMessages?: boolean;
  readonly deserializer?: (body: Buffer, message?: unknown) => unknown;
  readonly queueOptions?: { readonly consumerOptions?: { readonly noAck?: boolean } };
}

/** The package has a symbol of its own for it, which cannot be had without importing the package. */
const HANDLER_METADATA = 'Symbol(RABBIT_HANDLER)';

/** Undefined when the method carries none of these decorators. */
export function findGolevelupHandler(method: object): GolevelupHandler | undefined {
  const key: unknown = Reflect.getMetadataKeys(method).find((one) => String(one) === HANDLER_METADATA);
  return key === undefined ? undefined : (Reflect.getMetadata(key, method) as GolevelupHandler);
}
