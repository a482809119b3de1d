import { isLoopbackHost } from "../../api/host-grammar.ts";
import { usageError } from "../cli-error.ts";

/**
 * A gateway's address as it is compared and shown: scheme, host in lower case, port unless it is the scheme's; with a
 * path, for a gateway behind a proxy; no final slash. Without a scheme it is `http` on this machine, else `https`.
 * @throws CliError with `source`, the flag, variable or file that gave it, when it cannot be one
 */
export function gatewayAddress(text: string, source: string): string {
  const refuse = (reason: string): never => {
    const shown = text.replace(/^((?:[a-z][a-z0-9+.-]*:\/\/)?)[^/]*@/i, "$1…@");
    throw usageError(`Cannot use gateway "${shown}" of ${source}: ${reason}`);
  };
  if (text.includes("${")) return refuse("its variable is not set");
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const local = /^(?:localhost|127\.[\d.]+|\[::1\])(?::|\/|$)/i.test(text);
  const whole = hasScheme ? text : `${local ? "http" : "https"}://${text}`;
  if (!URL.canParse(whole)) return refuse("it is not a URL");
  const url = new URL(whole);
  if (url.protocol !== "http:" && url.protocol !== "https:") return refuse("its scheme is neither http nor https");
  if (url.username !== "" || url.password !== "")
    return refuse("credentials do not belong into an address; use --user with --password-file, or weir login");
  if (url.search !== "" || url.hash !== "") return refuse("it has a query or fragment");
  return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, "");
}

/** Whether an address leads to this machine. */
export function isLoopbackAddress(address: string): boolean {
  return isLoopbackHost(new URL(address).hostname.replace(/^\[(.*)\]$/, "$1"));
}
