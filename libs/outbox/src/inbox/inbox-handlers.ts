import type { InjectionToken } from '@nestjs/common';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { nameOfToken } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { chooseInbox } from './choose-inbox.js';
import { consumerOf, describeHandler } from './describe-handler.js';
import type { GuardedHandler, GuardedHandlers } from './guarded-handler.js';
import { methodOf } from './handler-identity.js';
import { discoverMethods, type HandlerMethod } from './handler-method.js';
import { putInboxInterceptor } from './inbox.interceptor.js';
import { refuseHalfSharedPatterns } from './refuse-half-shared-patterns.js';
import { refuseSharedEvents } from './refuse-shared-events.js';
import { refuseUnsafeMethods } from './refuse-unsafe-methods.js';

/** Finds the guarded handlers of the application and prepares those that belong to this inbox. */
export class InboxHandlers implements GuardedHandlers {
  private readonly methods: readonly HandlerMethod[];
  private routes = 0;
  private called: readonly { readonly method: HandlerMethod; readonly handler: GuardedHandler }[] = [];
  private readonly handlers = new Map<unknown, Map<unknown, GuardedHandler>>();

  constructor(
    private readonly discovery: DiscoveryService,
    scanner: MetadataScanner,
    /** Token of this inbox's DataSource. */
    readonly dataSource: InjectionToken,
    /** Quoted name of this inbox's table, for messages. */
    private readonly table: string,
  ) {
    this.methods = discoverMethods(discovery, scanner);
  }

  /** Must be called while the module is constructed: routes are registered before any lifecycle hook. */
  putInterceptors(): void {
    for (const method of this.methods) if (method.isGuarded) putInboxInterceptor(method.method);
  }

  /**
   * Called when every module is there and nothing is served yet.
   *
   * @throws ConfigurationError when a handler could not keep what the inbox promises.
   */
  takeHandlers(): void {
    const inboxes = this.allInboxes();
    this.refuseTwin(inboxes);
    refuseUnsafeMethods(this.methods);
    const tokens = inboxes.map((inbox) => inbox.dataSource);
    const own = this.methods.filter(
      (method) =>
        method.isGuarded &&
        (method.isRoute || method.subscription !== undefined || consumerOf(method) !== undefined) &&
        chooseInbox(method.where, consumerOf(method)?.dataSource, tokens) === this.dataSource,
    );
    const handlers = own.map((method) => ({
      method,
      handler: describeHandler(method, takersOf(method, this.methods)),
    }));
    this.called = handlers.filter(
      ({ method }) => method.isRoute || method.isInProcess || method.subscription !== undefined,
    );
    refuseSharedEvents(this.called.map(({ handler }) => handler));
    refuseHalfSharedPatterns(this.subscribed);
    this.routes = this.called.filter(({ method }) => method.isRoute).length;
    for (const { method, handler } of handlers) {
      const ofClass = this.handlers.get(method.controller) ?? new Map<unknown, GuardedHandler>();
      this.handlers.set(method.controller, ofClass.set(method.method, handler));
    }
  }

  /** Everybody who processes events here. */
  get consumers(): readonly string[] {
    return [...new Set(this.called.map(({ handler }) => handler.consumer))];
  }

  /** Those that messages of brokers come to. */
  get subscribed(): readonly HandlerMethod[] {
    return this.called.map(({ method }) => method).filter(({ subscription }) => subscription !== undefined);
  }

  /** Those that are called with events of the outbox of the same application. */
  get inProcess(): readonly { readonly method: HandlerMethod; readonly handler: GuardedHandler }[] {
    return this.called.filter(({ method }) => method.isInProcess);
  }

  /** Does any of the handlers answer HTTP requests? */
  get hasRoutes(): boolean {
    return this.routes > 0;
  }

  find(controller: unknown, handler: object): GuardedHandler | undefined {
    return this.handlers.get(controller)?.get(methodOf(handler));
  }

  /** The handler of messages that would get an event of this type for this consumer; undefined when there is none. */
  takerOf(consumer: string, eventType: string | undefined): HandlerMethod | undefined {
    const takes = ({ types, consumer: own }: GuardedHandler): boolean =>
      own === consumer && (types === undefined || (eventType !== undefined && types.has(eventType)));
    return this.called.find(({ method, handler }) => method.subscription !== undefined && takes(handler))?.method;
  }

  /** The instance that Nest made of a class; undefined when there is one for each request, or none. */
  instanceOf(controller: unknown): object | undefined {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    const instances = wrappers.filter(({ metatype, isNotMetatype }) => metatype === controller && !isNotMetatype);
    return instances.map(({ instance }) => instance as object | undefined).find((instance) => instance !== undefined);
  }

  private allInboxes(): InboxHandlers[] {
    const instances = this.discovery.getProviders().map(({ instance }) => instance as unknown);
    return instances.filter((instance) => instance instanceof InboxHandlers);
  }

  private refuseTwin(inboxes: readonly InboxHandlers[]): void {
    const twin = inboxes.find((inbox) => inbox !== this && inbox.dataSource === this.dataSource);
    if (twin === undefined) return;
    const tables = twin.table === this.table ? `table ${this.table}` : `tables ${this.table} and ${twin.table}`;
    throw new ConfigurationError(
      `InboxModule is registered twice for the DataSource ${nameOfToken(this.dataSource)} (${tables}), and a handler could not tell which one is meant. Import it once; it is global by default.`,
    );
  }
}

/** How many guarded handlers of the application get the messages of this one, whichever inbox they belong to. */
function takersOf({ subscription }: HandlerMethod, methods: readonly HandlerMethod[]): number {
  // Of several @MessagePattern with one pattern Nest calls one.
  if (subscription === undefined || subscription.answersRequests) return 1;
  const sharesTopic = (other: HandlerMethod): boolean =>
    other.isGuarded &&
    other.subscription?.answersRequests === false &&
    other.subscription.topics.some((topic) => subscription.topics.includes(topic));
  return methods.filter(sharesTopic).length;
}
