/** What a browser accepts of a coding, by RFC 9110 §12.5.3: 0 = nothing. */
function weightOf(coding: string, accepted: ReadonlyMap<string, number>): number {
  return accepted.get(coding) ?? accepted.get("*") ?? 0;
}

/**
 * The first of `codings` that `Accept-Encoding` names with the greatest weight; undefined = none, so that the content is
 * sent as it is. `identity` is always accepted, as there is no other form to fall back to.
 */
export function acceptedCoding<Coding extends string>(
  header: string | undefined,
  codings: readonly Coding[],
): Coding | undefined {
  if (header === undefined) return undefined;
  const accepted = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
    const value = weight === undefined ? 1 : Number(weight);
    if (name !== "") accepted.set(name, value >= 0 && value <= 1 ? value : 0);
  }
  let best: Coding | undefined;
  let most = 0;
  for (const coding of codings) {
    const weight = weightOf(coding, accepted);
    if (weight > most) [best, most] = [coding, weight];
  }
  // A client that prefers the content as it is says so by name.
  return most >= (accepted.get("identity") ?? 0) ? best : undefined;
}
