import { ConfigurationError } from '../errors/index.js';
import { type EventDefinition, requireEventDefinition } from '../event/index.js';
import type { RouteOptions } from './module-options.js';
import type { RouteTable } from './resolved-options.js';

/** Joins all routes into one table and refuses destinations and classes that do not exist. */
export function resolveRoutes(routes: readonly RouteOptions[], destinations: ReadonlySet<string>): RouteTable {
  const destinationsByType = new Map<string, string[]>();
  const definitionsByType = new Map<string, EventDefinition>();
  if (!Array.isArray(routes)) throw new ConfigurationError('"routes" is no list. Give it as [{ events, to }].');
  for (const [index, route] of routes.entries()) {
    const where = `routes[${index}]`;
    requireLists(where, route);
    for (const name of route.to) requireKnown(where, name, destinations);
    for (const event of route.events) {
      const type = typeof event === 'string' ? event : addDefinition(definitionsByType, requireEventDefinition(event));
      const known = destinationsByType.get(type) ?? [];
      destinationsByType.set(type, [...new Set([...known, ...route.to])]);
    }
  }
  return {
    destinationsOf: (type) => destinationsByType.get(type),
    typesTo: (destination) =>
      [...destinationsByType].flatMap(([type, destinations]) => (destinations.includes(destination) ? [type] : [])),
    definitionOf: (type) => definitionsByType.get(type),
  };
}

function requireLists(where: string, route: RouteOptions): void {
  if (!Array.isArray(route?.events) || route.events.length === 0) {
    throw new ConfigurationError(`${where}.events is empty. Name the event classes that this route is for.`);
  }
  // A class of a file that imports this one, directly or not, is undefined while the options are made.
  if (route.events.some((event) => event === undefined || event === null || event === '')) {
    throw new ConfigurationError(`${where}.events holds an empty entry. Look for a circular import of an event class.`);
  }
  if (!Array.isArray(route.to)) {
    throw new ConfigurationError(`${where}.to is no list. Name the destinations; [] keeps the events in the log only.`);
  }
}

function addDefinition(definitions: Map<string, EventDefinition>, definition: EventDefinition): string {
  const other = definitions.get(definition.type);
  if (other !== undefined && other.eventClass !== definition.eventClass) {
    throw new ConfigurationError(
      `event type "${definition.type}" is declared by two classes, ${other.eventClass.name} and ${definition.eventClass.name}. Give each its own type.`,
    );
  }
  definitions.set(definition.type, definition);
  return definition.type;
}

function requireKnown(where: string, name: string, destinations: ReadonlySet<string>): void {
  if (destinations.has(name)) return;
  const known = [...destinations].map((destination) => `"${destination}"`).join(', ') || 'none';
  throw new ConfigurationError(
    `${where}.to names the destination "${name}", which "destinations" does not have. Known: ${known}.`,
  );
}
