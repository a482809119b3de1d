import ipaddr from "ipaddr.js";

import { metadataAddresses, metadataNames } from "../../api/metadata-addresses.ts";
import { PlatformError } from "../../api/platform-error.ts";

/** Where callbacks may go: `any` refuses only what no policy allows, `public` also private and loopback addresses. */
export type CallbackPolicy = "any" | "public";

/**
 * Rules for addresses that a caller directs requests of the platform to. What belongs to the platform stays closed
 * whatever the policy and `allow` say.
 */
export interface CallbackRules {
  /** `listed`: all that is not the platform's own, as the administrator wrote the host. */
  readonly policy: CallbackPolicy | "listed";
  /** Hosts, host:port pairs and CIDR blocks that are allowed, whatever they resolve to. */
  readonly allow: readonly string[];
  /** Origins of the gateway itself (`http://host:port`); allowed for invocation paths only. */
  readonly gatewayOrigins: readonly string[];
  /** Ports of the gateway at the addresses of this machine; allowed for invocation paths only. */
  readonly gatewayPorts?: readonly number[] | undefined;
  /**
   * Ports that belong to the platform: broker, its monitoring, admin, container engine. Closed at addresses that are
   * not public, and at those of this machine.
   */
  readonly closedPorts: readonly number[];
  /** Addresses of this machine, as they are now. */
  readonly ownAddresses?: (() => readonly string[]) | undefined;
  /** Absent: there are no functions. */
  readonly isReplica?: IsReplica | undefined;
}

/**
 * Whether a replica of a function listens there now, or its process behind a watchdog does; also one that starts or
 * drains. `isOwn`: whether an address is one of this machine.
 */
export type IsReplica = (
  place: { readonly address: string; readonly port: number },
  isOwn: (address: string) => boolean,
) => boolean;

/** Longest callback address, characters (contract §4.3). */
const longestUrl = 2_048;
const functionsOnly = "the gateway takes callbacks for functions only";
const invocationPath = /^\/(?:async-)?function\//;

/** Blocks that no policy allows. */
const neverBlocks = [
  "0.0.0.0/8",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/128",
  "fe80::/10",
  "ff00::/8",
].map((block) => ipaddr.parseCIDR(block));
/** All IPv6 addresses that are assigned as public (RFC 4291 §2.4, IANA registry). */
const globalUnicast = ipaddr.parseCIDR("2000::/3");
const translated = ipaddr.parseCIDR("64:ff9b::/96");
const metadataHosts = new Set(metadataNames);
const metadataServices = new Set(metadataAddresses);

/**
 * Parses a callback address. No other code does: the returned URL is the one that is judged and used.
 * @throws PlatformError `invalid_callback_url`
 */
export function parseCallbackUrl(text: string): URL {
  const refuse = (why: string) =>
    new PlatformError("invalid_callback_url", `Cannot call back at "${withoutUserPart(text).slice(0, 200)}": ${why}`);
  if (text.length > longestUrl) throw refuse(`longer than ${longestUrl} characters`);
  if (/[^\u0021-\u007e]|\\/.test(text)) throw refuse("only printable ASCII without backslashes is allowed");
  if (!/^https?:\/\/[^/]/i.test(text)) throw refuse("expected an absolute address with http or https");
  const url = URL.parse(text);
  if (url === null || url.hostname === "") throw refuse("it is not a valid address");
  // The encoded form is what is stored and parsed again.
  if (url.href.length > longestUrl) throw refuse(`encoded it is longer than ${longestUrl} characters`);
  if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/?#]*@/i.test(text))
    throw refuse("a user part is not allowed");
  return url;
}

/** The error sentence is sent and logged, so it must not hold a password. */
function withoutUserPart(text: string): string {
  return text.slice(text.lastIndexOf("@") + 1);
}

/** Why `url` is refused by its text, or undefined; host names are judged again once resolved. */
export function judgeUrl(url: URL, rules: CallbackRules): string | undefined {
  if (isGateway(url, rules)) return invocationPath.test(url.pathname) ? undefined : functionsOnly;
  const host = bareHost(url);
  if (isAllowed(url, rules))
    return ipaddr.isValid(host) ? judgeAddress(host, portOf(url), rulesAtConnect(url, rules)) : undefined;
  if (metadataHosts.has(host.replace(/\.$/, ""))) return "it is a metadata service";
  return ipaddr.isValid(host) ? judgeAddress(host, portOf(url), rules) : undefined;
}

/** Whether `url` has an origin of the gateway, or an address of this machine at which the gateway listens. */
export function isGateway(url: URL, rules: CallbackRules): boolean {
  if (rules.gatewayOrigins.includes(url.origin)) return true;
  const host = bareHost(url);
  return (
    rules.gatewayPorts?.includes(portOf(url)) === true &&
    ipaddr.isValid(host) &&
    isOwn(unwrap(ipaddr.parse(host)), rules)
  );
}

/** The rules for the addresses to which the host of `url` resolves. */
export function rulesAtConnect(url: URL, rules: CallbackRules): CallbackRules {
  return {
    ...rules,
    policy: isAllowed(url, rules) ? "listed" : rules.policy,
    gatewayPorts: invocationPath.test(url.pathname) ? [] : rules.gatewayPorts,
  };
}

/** Why this resolved address is refused, or undefined. */
export function judgeAddress(address: string, port: number, rules: CallbackRules): string | undefined {
  const parsed = unwrap(ipaddr.parse(address));
  const text = parsed.toString();
  const isHere = isOwn(parsed, rules);
  const leadsHere = (other: string): boolean =>
    other === text ? isHere : ipaddr.isValid(other) && isOwn(unwrap(ipaddr.parse(other)), rules);
  if (rules.isReplica?.({ address: text, port }, leadsHere) === true)
    return "a function listens there; it is called at the gateway, by /function/<name>";
  if (isHere && rules.closedPorts.includes(port)) return belongsToPlatform(port);
  if (isHere && rules.gatewayPorts?.includes(port) === true) return functionsOnly;
  if (rules.policy === "listed") return undefined;
  const isPublicAddress = isPublic(parsed);
  if (!isPublicAddress && rules.closedPorts.includes(port)) return belongsToPlatform(port);
  if (rules.allow.some((item) => isInBlock(parsed, item))) return undefined;
  if (metadataServices.has(text)) return "it is a metadata service";
  if (neverBlocks.some((block) => isIn(parsed, block))) return `${text} is no address of a host (${parsed.range()})`;
  return rules.policy === "public" && !isPublicAddress ? `${text} is not public (${parsed.range()})` : undefined;
}

function belongsToPlatform(port: number): string {
  return `port ${port} belongs to the platform`;
}

/** Whether the address leads to this machine. Connections to an unspecified address go to loopback. */
function isOwn(address: Address, { ownAddresses }: CallbackRules): boolean {
  const range = address.range();
  return range === "loopback" || range === "unspecified" || ownAddresses?.().includes(address.toString()) === true;
}

function isPublic(address: Address): boolean {
  return address.range() === "unicast" && (address.kind() === "ipv4" || isIn(address, globalUnicast));
}

/** Whether `callback_allow` lists the host as written. */
export function isAllowed(url: URL, rules: CallbackRules): boolean {
  const host = bareHost(url);
  return rules.allow.some((item) => item === host || item === `${host}:${portOf(url)}`);
}

/** The host of a URL without the brackets of IPv6. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

/** The port of a URL, or the default of its scheme. */
export function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The IPv4 address inside ::ffff:0:0/96, 64:ff9b::/96 and 2002::/16, else the address itself. */
function unwrap(address: Address): Address {
  if (!("isIPv4MappedAddress" in address)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const bytes = address.toByteArray();
  if (isIn(address, translated)) return new ipaddr.IPv4(bytes.slice(12));
  return address.range() === "6to4" ? new ipaddr.IPv4(bytes.slice(2, 6)) : address;
}

function isInBlock(address: Address, item: string): boolean {
  return ipaddr.isValidCIDR(item) && isIn(address, ipaddr.parseCIDR(item));
}

function isIn(address: Address, [base, bits]: [Address, number]): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}
