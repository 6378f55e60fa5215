export { transportContract } from './transport-contract.js';
export type { ContractCase, HeldEvent, TransportUnderTest } from './transport-under-test.js';
