import 'reflect-metadata';
import {
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  SSE_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { HandlerMethod } from './handler-method.js';

/** Decorators with which Nest does not let the interceptor decide about the answer. */
const ANSWERING_DECORATORS = [
  [REDIRECT_METADATA, '@Redirect'],
  [SSE_METADATA, '@Sse'],
  [RENDER_METADATA, '@Render'],
] as const;

/**
 * What makes a handler answer by itself: then the sender hears of success before the commit, and a duplicate is never
 * answered at all. Undefined for all others.
 */
export function answersEarlyBy({ controller, name, method }: HandlerMethod): string | undefined {
  const decorator = ANSWERING_DECORATORS.find(([key]) => Reflect.hasMetadata(key, method));
  if (decorator !== undefined) return decorator[1];
  if (Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, name) === true) return undefined;
  const parameters: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name);
  const kinds = Object.keys(parameters ?? {}).map((key) => Number(key.split(':')[0]));
  if (kinds.includes(RouteParamtypes.RESPONSE)) return '@Res() without { passthrough: true }';
  return kinds.includes(RouteParamtypes.NEXT) ? '@Next()' : undefined;
}
