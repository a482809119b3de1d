import ipaddr from "ipaddr.js";

import { brokerAddresses, isBrokerAddress } from "../api/broker/broker-addresses.ts";
import { grammarRule, isNamespaceName, isQueueName } from "../api/grammar.ts";
import type { TextRule } from "./setting.ts";

/** Rules that the texts of several settings share, each with its wording. */
export const textRule = {
  namespace: { test: isNamespaceName, expected: `a name: ${grammarRule.namespace}` },
  namespaces: { test: isNamespaceName, expected: `names: ${grammarRule.namespace}` },
  queue: { test: isQueueName, expected: `a name: ${grammarRule.queue}` },
  url: {
    test: isWebAddress,
    expected: 'an address such as "https://weir.example.com" without user, query and fragment',
  },
  addresses: {
    test: isWebAddress,
    expected: 'addresses such as "http://nats-0.nats:8222" without user, query and fragment',
  },
  origins: {
    test: (text) => isWebAddress(text) && URL.parse(text)?.origin === text,
    expected: 'origins such as "https://console.example.com" without a path',
  },
  brokers: {
    test: (text) => brokerAddresses(text).length > 0 && brokerAddresses(text).every(isBrokerAddress),
    expected: 'addresses such as "nats://127.0.0.1:4222" without user (see nats_user and nats_password_file)',
    wrongParts: (text) =>
      brokerAddresses(text)
        .filter((address) => !isBrokerAddress(address))
        .join(",") || undefined,
  },
  addressRanges: { test: isAddressRange, expected: 'addresses or ranges such as "10.0.0.0/8"' },
  hosts: {
    test: (text) =>
      /^(?:\*\.)?[a-z0-9_]([-a-z0-9_.]*[a-z0-9_])?$/.test(text) || (text.includes(":") && ipaddr.IPv6.isValid(text)),
    expected: 'host names in lower case without a port, such as "weir.example.com" or "*.example.com"',
  },
  proxy: {
    test: (text) => isWebAddress(text) && URL.parse(text)?.pathname === "/",
    expected: 'an address such as "http://proxy.example.com:3128" without user and path',
  },
  proxyExceptions: {
    test: (text) => isAddressRange(text) || /^\.?[a-z0-9_][-a-z0-9_.]*$/.test(text),
    expected: 'hosts and domains in lower case such as ".example.com", or ranges such as "10.0.0.0/8"',
  },
  targets: {
    test: (text) => isAddressRange(text) || /^[a-z0-9_][-a-z0-9_.]*(?::\d{1,5})?$/.test(text),
    expected: 'hosts in lower case, "host:port", or ranges such as "10.0.0.0/8"',
  },
} as const satisfies Readonly<Record<string, TextRule>>;

/** `text` with `…` in place of user and password in each of its addresses. */
export function withoutUserPart(text: string): string {
  return text.replaceAll(/(^|\/\/)[^/?#]*@/g, "$1…@");
}

function isWebAddress(text: string): boolean {
  const url = /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(text) ? URL.parse(text) : null;
  return url !== null && url.hostname !== "" && url.username === "" && url.password === "";
}

function isAddressRange(text: string): boolean {
  const [address = "", bits = "0", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return Number(bits) <= 32;
  return address.includes(":") && ipaddr.IPv6.isValid(address) && Number(bits) <= 128;
}
