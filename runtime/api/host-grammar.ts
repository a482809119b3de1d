import { isIPv6 } from "node:net";

/** `uri-host [ ":" port ]` (RFC 9112 §3.2, RFC 3986 §3.2.2), except for an address in brackets. */
const named = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})*(?::\d*)?$/;
const bracketed = /^\[([^\]]*)\](?::\d*)?$/;
const future = /^v[0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+$/;

/** Whether the text may be the value of `Host`. */
export function isHost(text: string): boolean {
  if (!text.startsWith("[")) return named.test(text);
  const address = bracketed.exec(text)?.[1] ?? "";
  return (isIPv6(address) && !address.includes("%")) || future.test(address);
}

/** Whether a host name or an IP address, without brackets, leads to this machine only. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
