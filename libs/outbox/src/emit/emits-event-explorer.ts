import type { InjectionToken, OnModuleInit } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { outboxToken, type ResolvedOptions } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { requireEventDefinition } from '../event/index.js';
import { specsOf } from './emits-event-metadata.js';
import { OutboxService } from './outbox.service.js';

/** Refuses, while the application starts, a decorated method whose event nobody would receive. */
export class EmitsEventExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly options: ResolvedOptions,
    private readonly dataSource: InjectionToken | undefined,
  ) {}

  onModuleInit(): void {
    const token = outboxToken(OutboxService, this.dataSource);
    for (const { metatype } of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      if (typeof metatype !== 'function' || typeof metatype.prototype !== 'object' || metatype.prototype === null)
        continue;
      for (const spec of specsOf(metatype.prototype)) {
        const { type } = requireEventDefinition(spec.eventClass);
        if (outboxToken(OutboxService, spec.options.dataSource) !== token || this.options.routes.destinationsOf(type))
          continue;
        throw new ConfigurationError(
          `${spec.className}.${spec.method}() emits "${type}" (${spec.eventClass.name}), but no route names it. Add it to "routes" of OutboxModule.`,
        );
      }
    }
  }
}
