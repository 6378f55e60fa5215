import 'reflect-metadata';

const METHOD = Symbol('nestjs-transactional-outbox:method');

/** Writes down on a method which one it is, before anybody makes a handler of it. */
export function rememberMethod(method: object): void {
  Reflect.defineMetadata(METHOD, method, method);
}

/**
 * The method that a handler was made of. golevelup binds it to its instance and copies its metadata; Nest then names the
 * bound one to guards and interceptors, and the method itself to parameters.
 */
export function methodOf(handler: object): unknown {
  return Reflect.getMetadata(METHOD, handler) ?? handler;
}
