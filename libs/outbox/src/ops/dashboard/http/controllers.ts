import { type CanActivate, Controller, type Type, UseGuards, UseInterceptors, VERSION_NEUTRAL } from '@nestjs/common';
import { BlockedKeyController } from './blocked-key.controller.js';
import { DeadLetterController } from './dead-letter.controller.js';
import { DestinationController } from './destination.controller.js';
import { InboxController } from './inbox.controller.js';
import { OverviewController } from './overview.controller.js';
import { PageController } from './page.controller.js';
import { RefusalsInterceptor } from './refusals.interceptor.js';
import { ReplayController } from './replay.controller.js';
import { SameOriginGuard } from './same-origin.guard.js';

const API: readonly (readonly [string, Type])[] = [
  ['api', OverviewController],
  ['api/destinations', DestinationController],
  ['api/dead-letters', DeadLetterController],
  ['api/blocked-keys', BlockedKeyController],
  ['api/replay', ReplayController],
  ['api/inbox', InboxController],
];

type Guards = readonly (Type<CanActivate> | CanActivate)[];

/** Classes of their own for each mount, because the path and the guards of a controller are written on its class. */
export function controllersAt(path: string, guards: Guards): Type[] {
  return [
    // A link to the page may be followed from anywhere.
    mounted(PageController, path, guards),
    ...API.map(([below, controller]) => mounted(controller, `${path}/${below}`, [...guards, SameOriginGuard])),
  ];
}

function mounted(base: Type, path: string, guards: Guards): Type {
  const controller = class extends base {};
  Object.defineProperty(controller, 'name', { value: base.name });
  Controller({ path, version: VERSION_NEUTRAL })(controller);
  UseGuards(...guards)(controller);
  UseInterceptors(new RefusalsInterceptor())(controller);
  return controller;
}
