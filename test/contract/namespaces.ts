/** The namespaces of one test, for adapters that keep those of several tests in one place. */
export interface TestNamespaces {
  /** Two that are fresh; absent: "functions" and "functions-2". */
  readonly namespaces?: readonly [string, string];
  /** Resolves when the adapter's watches have heard of all that was written; absent: they have when a write resolves. */
  caughtUp?(): Promise<void>;
}

/** What an opened adapter said, or what is so unless it says otherwise. */
export function namespacesOf(opened: TestNamespaces): readonly [string, string] {
  return opened.namespaces ?? ["functions", "functions-2"];
}
