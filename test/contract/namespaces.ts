/** The namespaces of one test, for adapters that keep those of several tests in one place. */
export interface TestNamespaces {
  /** Two new ones; absent: "functions" and "functions-2". */
  readonly namespaces?: readonly [string, string];
  /** Resolves when the adapter's watches have seen every write; absent: they have when a write resolves. */
  caughtUp?(): Promise<void>;
}

/** The namespaces of an open adapter, or the default ones. */
export function namespacesOf(opened: TestNamespaces): readonly [string, string] {
  return opened.namespaces ?? ["functions", "functions-2"];
}
