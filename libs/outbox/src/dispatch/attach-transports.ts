import type { ModuleRef } from '@nestjs/core';
import type { ResolvedOptions } from '../config/index.js';

/**
 * Shows the application to the transports that want to see it.
 *
 * @throws what a transport throws to stop the start.
 */
export function attachTransports({ destinations, routes }: ResolvedOptions, modules: ModuleRef): void {
  for (const { name, transport } of destinations.values()) {
    transport.attach?.({
      destination: name,
      types: routes.typesTo(name),
      findAll: <T>(token: symbol) => findAll<T>(modules, token),
    });
  }
}

function findAll<T>(modules: ModuleRef, token: symbol): readonly T[] {
  try {
    return modules.get<T, T>(token, { strict: false, each: true });
  } catch {
    return []; // Nest throws when nobody provides it
  }
}
