/** The way on which events come in. Whichever it is, the same service does the work. */
export type Intake =
  | { readonly kind: 'http' }
  | { readonly kind: 'broker'; readonly placeOf: (consumer: string) => string }
  | { readonly kind: 'in-process' };
