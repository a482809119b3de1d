/** A group of pages that is loaded when the first of them is opened. */
export interface PageGroup<Pages> {
  /** Patterns of paths, each with the name of its page in the group; the first that fits counts. */
  readonly paths: Readonly<Record<string, string>>;
  readonly load: () => Promise<Pages>;
}

/** The page that a path leads to. */
export interface MatchedPage<Pages> {
  readonly group: PageGroup<Pages>;
  readonly page: string;
  /** Parts of the path by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** Makes what finds the page of a path among `groups`. */
export function pageMatcher<Pages>(
  groups: readonly PageGroup<Pages>[],
): (path: string) => MatchedPage<Pages> | undefined {
  const rows = groups.flatMap((group) =>
    Object.entries(group.paths).map(([pathname, page]) => ({ group, page, pattern: new URLPattern({ pathname }) })),
  );
  return (path) => {
    for (const { group, page, pattern } of rows) {
      const found = pattern.exec({ pathname: path });
      if (found !== null) return { group, page, params: decoded(found.pathname.groups) };
    }
    return undefined;
  };
}

function decoded(groups: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(groups).map(([name, value = ""]) => [name, decodedPart(value)]));
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
