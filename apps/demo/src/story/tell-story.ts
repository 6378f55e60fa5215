import type { Arguments } from '../arguments.js';
import { openCarrier } from '../brokers/open-carrier.js';
import type { Cleanup } from '../cleanup.js';
import { type AllFigures, differences, expectedFigures } from '../figures.js';
import type { Narrator } from '../narrator.js';
import { DatabaseServer } from '../system/database-server.js';
import { SampleSystem } from '../system/sample-system.js';
import { DeliveryStory } from './delivery-story.js';
import { tellDualWrite } from './dual-write-story.js';
import { invite } from './invitation.js';

/** The first dispatcher dies after so many events, or after all of them where there are fewer. */
const SENT_BEFORE_DEATH = 3;

/** Tells everything. @returns one line for each figure that is not as it must be. */
export async function tellStory(
  { transport, orders, deliveryOnly, once, json }: Arguments,
  narrator: Narrator,
  cleanup: Cleanup,
): Promise<string[]> {
  narrator.title('Transactional outbox: every committed event is delivered at least once, and takes effect once.');
  narrator.line('');
  const carrier = await openCarrier(transport, cleanup);
  narrator.say(`transport    ${carrier.description}`);
  const server = await DatabaseServer.open(process.env.DATABASE_URL, cleanup);
  narrator.say(`PostgreSQL   ${server.description}`);
  const system = await SampleSystem.create({ server, transport, carrier, cleanup });
  await system.startApplications();
  narrator.say(`orders       ${system.ordersUrl}, API only`);
  narrator.say(
    `shipping     ${transport === 'in-process' ? 'in orders' : system.shippingUrl}, with the consumers "shipping" and "inventory"`,
  );

  const resent = Math.min(SENT_BEFORE_DEATH, orders);
  const { dualWrite, ...delivery } = expectedFigures(transport, orders, resent);
  const expected: AllFigures = deliveryOnly ? delivery : { ...delivery, dualWrite };
  const figures: AllFigures = {
    transport,
    ...(await new DeliveryStory(system, narrator).tell(expected, resent)),
    ...(deliveryOnly ? {} : { dualWrite: await tellDualWrite({ server, system, cleanup }, narrator) }),
  };
  const wrong = differences(figures, expected);
  narrator.line('');
  narrator.line(
    wrong.length === 0
      ? 'Every figure was counted in the databases and is as it must be.'
      : `WRONG: ${wrong.join('; ')}`,
  );
  if (!once) invite(system, narrator);
  if (json) narrator.line(JSON.stringify(figures));
  return wrong;
}
