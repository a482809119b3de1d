import { connectionOptions } from "../../api/http-grammar.ts";

const names: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Whether the header, named in lower case, concerns one connection only and stops at every hop (RFC 9110 §7.6.1). */
export function isHopByHop(lowerName: string): boolean {
  return names.has(lowerName) || lowerName.startsWith("proxy-");
}

/** Whether every option of a `Connection` value concerns the connection only and names no other header. */
export function isSimpleConnection(value: string): boolean {
  switch (value) {
    case "keep-alive":
    case "Keep-Alive":
    case "close":
      return true;
    default:
      return connectionOptions(value).every((option) => option === "close" || isHopByHop(option));
  }
}

/** The flat header list without hop-by-hop headers and those that `Connection` names, order and spelling kept. */
export function endToEndHeaders(headers: readonly string[]): string[] {
  const named = new Set<string>();
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === "connection") {
      for (const option of connectionOptions(headers[index + 1] ?? "")) named.add(option);
    }
  }
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const lowerName = name.toLowerCase();
    if (!isHopByHop(lowerName) && !named.has(lowerName)) kept.push(name, headers[index + 1] ?? "");
  }
  return kept;
}
