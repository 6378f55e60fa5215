/** Uniform in [0, 1). The only source of randomness, so that a test can replace it. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
