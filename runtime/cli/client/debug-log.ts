import { escapeLine } from "../output/escape-text.ts";

/** Headers whose values are secrets. */
const secretHeaders: ReadonlySet<string> = new Set(["authorization", "proxy-authorization", "cookie", "set-cookie"]);

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Lines for `--debug`: a first line and the headers, without the values of those that carry secrets; never bodies. */
export function debugLines(first: string, headers: Headers): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const shown = secretHeaders.has(name.toLowerCase()) ? "…" : String(value);
    return [`  ${escapeLine(`${name}: ${shown}`)}\n`];
  });
  return `${escapeLine(first)}\n${lines.join("")}`;
}
