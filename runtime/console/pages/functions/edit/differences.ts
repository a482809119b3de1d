/** One value that differs. */
export interface Difference {
  /** Where it stands: `envVars.LEVEL`. */
  readonly path: string;
  /** Absent = it was not there. */
  readonly before?: string;
  /** Absent = it goes. */
  readonly after?: string;
}

/** Where two JSON objects differ, by path; lists and texts count as one value each. */
export function differences(before: unknown, after: unknown): readonly Difference[] {
  const [old, next] = [valuesOf(before), valuesOf(after)];
  return [...new Set([...old.keys(), ...next.keys()])].toSorted().flatMap((path) => {
    const [was, is] = [old.get(path), next.get(path)];
    if (was === is) return [];
    return [{ path, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) }];
  });
}

/** Values by path: members of objects apart, all else as JSON. */
function valuesOf(value: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string, part: unknown): void => {
    if (typeof part === "object" && part !== null && !Array.isArray(part)) {
      for (const [key, member] of Object.entries(part)) visit(path === "" ? key : `${path}.${key}`, member);
    } else if (part !== undefined) {
      found.set(path, typeof part === "string" ? part : JSON.stringify(part));
    }
  };
  visit("", value);
  return found;
}
