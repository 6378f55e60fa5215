export interface Gate {
  /** Resolves when the gate is opened. */
  readonly opened: Promise<void>;
  open(): void;
}

/** A promise that the test resolves, for work that must wait until something else has happened. */
export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
