/** Headers as a flat list: name, value, name, value …, in order of arrival. */
export type HeaderList = readonly string[];

/** The first value of `name` (lower case), or undefined. */
export function headerValue(headers: HeaderList, name: string): string | undefined {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === name) return headers[index + 1];
  }
  return undefined;
}

/** All values of `name` (lower case) as one list, or undefined. */
export function joinedValue(headers: HeaderList, name: string): string | undefined {
  let joined: string | undefined;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() !== name) continue;
    const value = headers[index + 1] ?? "";
    joined = joined === undefined ? value : `${joined}, ${value}`;
  }
  return joined;
}

/** `headers` without those whose lower-case names are in `drop`. */
export function withoutHeaders(headers: HeaderList, drop: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (!drop.has(name.toLowerCase())) kept.push(name, headers[index + 1] ?? "");
  }
  return kept;
}
