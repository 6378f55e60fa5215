// Preloaded (`--import`): the program's wall clock is wrong by CLOCK_SHIFT_MS. The clock that only measures time is not.

const shiftMs = Number(process.env.CLOCK_SHIFT_MS);

globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [target.now() + shiftMs] : args, newTarget),
  get: (target, key) => (key === 'now' ? () => target.now() + shiftMs : Reflect.get(target, key)),
});
