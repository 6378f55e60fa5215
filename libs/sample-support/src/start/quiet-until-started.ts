/** Until it has started, the application says nothing; if it cannot start, one sentence says why. */
export const quietUntilStarted = { bufferLogs: true, autoFlushLogs: false, abortOnError: false } as const;
