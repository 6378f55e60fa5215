import type { InjectionToken } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import type { ExternalContextCreator, ModulesContainer } from '@nestjs/core';
import type { HandlerMethod } from '../handler-method.js';

/** `RpcParamtype` of `@nestjs/microservices`, which not everybody has installed. */
const PAYLOAD = 3;
const CONTEXT = 6;

/** Fills in `@Payload()` and `@Ctx()` as Nest's servers do. */
const PARAMETERS = {
  exchangeKeyForValue(kind: number, property: unknown, [data, context]: readonly unknown[]): unknown {
    if (kind === CONTEXT) return context;
    if (kind !== PAYLOAD) return null;
    return typeof property === 'string' && property !== ''
      ? (data as Record<string, unknown> | undefined)?.[property]
      : data;
  },
};

/** Calls the handlers of messages as Nest would, with their guards, interceptors and pipes. */
export class HandlerCaller {
  private readonly creator: ExternalContextCreator;

  /** Nest looks for what stands around a handler in the module of its class, but among the providers only. */
  constructor(creator: ExternalContextCreator, modules: ModulesContainer) {
    const moduleOf = (controller: unknown): string => {
      const entries = [...modules.entries()];
      return entries.find(([, { controllers }]) => controllers.has(controller as InjectionToken))?.[0] ?? '';
    };
    this.creator = Object.create(creator, {
      getContextModuleKey: {
        value: (target: unknown) => creator.getContextModuleKey(target as never) || moduleOf(target),
      },
    });
  }

  async call(instance: object, { name, controller }: HandlerMethod, data: unknown, context: object): Promise<void> {
    const method = (instance as Record<string, (...args: unknown[]) => unknown>)[name];
    if (method === undefined) throw new Error(`${controller.name} has no method ${name} any more.`);
    const call = this.creator.create(
      instance as Parameters<ExternalContextCreator['create']>[0],
      method,
      name,
      ROUTE_ARGS_METADATA,
      PARAMETERS,
      undefined,
      undefined,
      { guards: true, interceptors: true, filters: false },
      'rpc',
    );
    await call(data, context);
  }
}
