import { cpus, totalmem } from 'node:os';

/** What the figures were taken on. Client and server share it. */
export function describeMachine(): Record<string, string> {
  const processors = cpus();
  return {
    cores: String(processors.length),
    processor: processors[0]?.model.trim() ?? 'unknown',
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
}
