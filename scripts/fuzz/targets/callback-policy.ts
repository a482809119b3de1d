import { BlockList, isIP, isIPv4 } from "node:net";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import {
  bareHost,
  isAllowed,
  isGateway,
  judgeAddress,
  judgeUrl,
  parseCallbackUrl,
  portOf,
  type CallbackPolicy,
  type CallbackRules,
} from "../../../runtime/core/callbacks/callback-policy.ts";
import { latin1, mustHold, type FuzzTarget } from "../fuzz-target.ts";

const gateway = "http://gateway.weir:8080";
const brokerPort = 4_222;

/** The table of addresses that are never public; the first ones are refused under any policy. */
const never = blockList([
  "0.0.0.0/8 169.254.0.0/16 192.0.0.0/24 224.0.0.0/4 240.0.0.0/4 100.100.100.200/32 168.63.129.16/32",
  "::/128 fe80::/10 ff00::/8 fd00:ec2::254/128",
]);
const notPublic = blockList([
  "10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 198.18.0.0/15",
  "::1/128 fc00::/7",
]);

function blockList(rows: readonly string[]): BlockList {
  const list = new BlockList();
  for (const row of rows.flatMap((line) => line.split(" "))) {
    const [address = "", bits = ""] = row.split("/");
    list.addSubnet(address, Number(bits), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

/** The IPv4 address that an IPv6 one embeds, else the address itself; from the text that URL makes of it. */
function embedded(address: string): string {
  if (isIPv4(address)) return address;
  const bytes = bytesOf(address);
  const inside = (at: number): string => [...bytes.subarray(at, at + 4)].join(".");
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff) return inside(12);
  if (Buffer.from(bytes.subarray(0, 12)).toString("hex") === "0064ff9b0000000000000000") return inside(12);
  return bytes[0] === 0x20 && bytes[1] === 0x02 ? inside(2) : address;
}

function bytesOf(address: string): Uint8Array {
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const groups = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - left.length - right.length }, () => 0);
  const all = [...left, ...zeros, ...right];
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function isRefused(address: string, port: number, policy: CallbackPolicy): boolean {
  const effective = embedded(address);
  const family = isIPv4(effective) ? "ipv4" : "ipv6";
  if (never.check(effective, family)) return true;
  return notPublic.check(effective, family) && (policy === "public" || port === brokerPort);
}

function rulesOf(policy: CallbackPolicy): CallbackRules {
  return { policy, allow: ["hooks.internal", "10.1.2.3:9000"], gatewayOrigins: [gateway], closedPorts: [brokerPort] };
}

/** Throws if an address that the table refuses is allowed. */
export function checkAddress(address: string, port: number): void {
  for (const policy of ["any", "public"] as const) {
    if (judgeAddress(address, port, rulesOf(policy)) === undefined)
      mustHold(!isRefused(address, port, policy), `"${address}" passes under policy ${policy}`);
  }
}

/** Throws if a callback URL is allowed although no callback may go there. */
export function checkCallbackUrl(text: string): void {
  let url: URL;
  try {
    url = parseCallbackUrl(text);
  } catch (err) {
    if (!(err instanceof PlatformError) || err.code !== "invalid_callback_url") throw err;
    mustHold(!err.message.includes("@"), "what may be a password is shown");
    return;
  }
  mustHold(url.protocol === "http:" || url.protocol === "https:", "another scheme");
  mustHold(url.username === "" && url.password === "", "a user part");
  mustHold(/^[!-~]+$/.test(url.href), "not printable");
  // It is stored in this form, and parsed again before it is used.
  mustHold(parseCallbackUrl(url.href).href === url.href, "it is read otherwise the second time");
  const host = bareHost(url);
  for (const policy of ["any", "public"] as const) {
    const rules = rulesOf(policy);
    if (judgeUrl(url, rules) !== undefined) continue;
    if (isGateway(url, rules)) {
      mustHold(/^\/(?:async-)?function\//.test(url.pathname), "the gateway is called elsewhere");
    } else if (isIP(host) !== 0 && !isAllowed(url, rules)) {
      mustHold(!isRefused(host, portOf(url), policy), `"${url.href}" passes under policy ${policy}`);
    }
  }
}

export const callbackPolicy: FuzzTarget = {
  name: "callback-policy",
  promises: "what is allowed is public or listed, however it is spelt",
  maxBytes: 3_000,
  words: [
    ..."http:// https:// / \\ @ : ? # % . [ ] :: ::ffff: 64:ff9b:: 2002: 0x 0177. 127.0.0.1 127.1 2130706433 169.254.169.254".split(
      " ",
    ),
    ..."10.0.0.1 192.168.0.1 100.64.0.1 metadata.google.internal localhost gateway.weir:8080 /function/ %2e xn-- 8.8.8.8".split(
      " ",
    ),
    "\r\n",
    "\0",
  ],
  seeds: [
    "http://example.com/done?x=1",
    "http://127.1/",
    "http://0x7f000001/",
    "http://0177.0.0.1:80/",
    "https://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]:4222/",
    "http://[2002:7f00:1::]/",
    "http://a:b@127.0.0.1/",
    `${gateway}/function/echo`,
    `${gateway}/function/../system/functions`,
    "http://hooks.internal/",
    "http://8.8.8.8./",
  ],
  run: (input) => {
    checkCallbackUrl(latin1(input));
    if (input.length < 16) return;
    checkAddress([...input.subarray(0, 4)].join("."), input[4] ?? 0);
    const groups = Buffer.from(input.subarray(0, 16)).toString("hex").match(/.{4}/g) ?? [];
    checkAddress(groups.join(":"), input[4] === 0 ? brokerPort : 80);
  },
};
