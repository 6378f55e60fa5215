import { type Check, ok, warning } from '../finding.js';

/** A property of the server, which no release of the application changes: not asked at every start. */
export const durabilityCheck: Check = {
  name: 'durability',
  isAtStart: false,
  async look({ database }) {
    const settings = await database.durability();
    const off = Object.entries(settings).filter(([, value]) => value === 'off');
    if (off.length === 0) return ok('what was committed survives a crash of the server');
    return warning(
      `${off.map(([name]) => `"${name}"`).join(' and ')} off: a crash of the server loses committed events`,
      'Switch it on, unless all of this data may be lost.',
    );
  },
};
