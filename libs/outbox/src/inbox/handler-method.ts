import 'reflect-metadata';
import { GUARDS_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { findGolevelupHandler, type GolevelupHandler } from './broker/golevelup-handler.js';
import { isInProcessHandler } from './in-process/on-outbox-event.decorator.js';
import { InboxGuard } from './inbox.guard.js';

/** A method of a controller or provider, as Nest would call it. */
export interface HandlerMethod {
  readonly controller: { readonly name: string; readonly prototype: object };
  readonly name: string;
  readonly method: object;
  /** `ShippingController.onOrderPlaced`, for messages. */
  readonly where: string;
  /** Is InboxGuard on the method or its class? */
  readonly isGuarded: boolean;
  /** Does Nest answer HTTP requests with it? A guarded class may have other methods, too. */
  readonly isRoute: boolean;
  /** Is it called with events of the outbox of the same application? */
  readonly isInProcess: boolean;
  /** What its decorators say of messages of brokers; undefined when it takes none. */
  readonly subscription: Subscription | undefined;
  /** What golevelup's decorator says, if it has one. */
  readonly golevelup: GolevelupHandler | undefined;
}

/** A handler of messages, by the metadata of `@EventPattern`, `@MessagePattern` and golevelup's `@RabbitSubscribe`. */
export interface Subscription {
  /** As JSON. */
  readonly patterns: readonly string[];
  /** Patterns and transport as text: handlers with an equal one get the same messages. */
  readonly topics: readonly string[];
  /** Id of the transport that it is limited to; undefined when every server brings it messages. */
  readonly transportId: unknown;
  /** A `@MessagePattern`, whose answer somebody waits for. */
  readonly answersRequests: boolean;
}

/** Names of `@nestjs/microservices`, which not everybody has installed. */
const PATTERN_METADATA = 'microservices:pattern';
const HANDLER_TYPE_METADATA = 'microservices:handler_type';
const TRANSPORT_METADATA = 'microservices:transport';
const EVENT_HANDLER = 2;
/** Stands where Nest has the id of a transport. */
const GOLEVELUP = Symbol('golevelup');

/** Every method of every controller and provider of the application, inherited ones included. */
export function discoverMethods(discovery: DiscoveryService, scanner: MetadataScanner): HandlerMethod[] {
  const classes = new Set<unknown>();
  for (const { metatype } of [...discovery.getControllers(), ...discovery.getProviders()]) classes.add(metatype);
  return [...classes]
    .filter(isClass)
    .flatMap((controller) =>
      scanner.getAllMethodNames(controller.prototype).map((name) => describeMethod(controller, name)),
    );
}

function describeMethod(controller: HandlerMethod['controller'], name: string): HandlerMethod {
  // MetadataScanner lists only names whose value is a function.
  const method = (controller.prototype as Record<string, object>)[name] as object;
  const where = `${controller.name}.${name}`;
  const golevelup = findGolevelupHandler(method);
  return {
    controller,
    name,
    method,
    where,
    isGuarded: [...guardsOf(controller), ...guardsOf(method)].some(isInboxGuard),
    isRoute: Reflect.hasMetadata(PATH_METADATA, method) && Reflect.hasMetadata(METHOD_METADATA, method),
    isInProcess: isInProcessHandler(method),
    subscription: subscriptionOf(method) ?? (golevelup && ownSubscription(where)),
    golevelup,
  };
}

function subscriptionOf(method: object): Subscription | undefined {
  const patterns: unknown = Reflect.getMetadata(PATTERN_METADATA, method);
  if (patterns === undefined) return undefined;
  const transport: unknown = Reflect.getMetadata(TRANSPORT_METADATA, method);
  return {
    patterns: [patterns].flat().map((pattern) => JSON.stringify(pattern)),
    topics: [patterns].flat().map((pattern) => JSON.stringify([pattern, String(transport)])),
    transportId: transport,
    answersRequests: Reflect.getMetadata(HANDLER_TYPE_METADATA, method) !== EVENT_HANDLER,
  };
}

/** golevelup delivers to each of its handlers for itself, and Nest's servers to none of them. */
function ownSubscription(where: string): Subscription {
  return { patterns: [], topics: [where], transportId: GOLEVELUP, answersRequests: false };
}

function guardsOf(target: object): readonly unknown[] {
  return (Reflect.getMetadata(GUARDS_METADATA, target) as readonly unknown[] | undefined) ?? [];
}

function isInboxGuard(guard: unknown): boolean {
  return (
    guard === InboxGuard || guard instanceof InboxGuard || (isClass(guard) && guard.prototype instanceof InboxGuard)
  );
}

function isClass(value: unknown): value is HandlerMethod['controller'] {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null;
}
