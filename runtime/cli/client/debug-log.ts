import { escapeLine } from "../output/escape-text.ts";

/** Names of headers whose values are secrets (`security.md` §6). */
const secretName = /^(?:(?:proxy-)?authorization|cookie|set-cookie)$|token|secret|key/i;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Lines for `--debug`: a first line and the headers, without the values of those that carry secrets; never bodies. */
export function debugLines(first: string, headers: Headers): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const shown = secretName.test(name) ? "…" : String(value);
    return [`  ${escapeLine(`${name}: ${shown}`)}\n`];
  });
  return `${escapeLine(first)}\n${lines.join("")}`;
}
