import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { enginePorts, gatewayOrigins } from "../../../../runtime/core/callbacks/callback-origins.ts";
import {
  judgeAddress,
  judgeUrl,
  parseCallbackUrl,
  portOf,
  rulesAtConnect,
  type CallbackRules,
} from "../../../../runtime/core/callbacks/callback-policy.ts";
import { replicasAt } from "../../../../runtime/core/callbacks/replica-places.ts";

const rules = (over: Partial<CallbackRules> = {}): CallbackRules => ({
  policy: "public",
  allow: [],
  gatewayOrigins: ["http://gateway.weir:8080"],
  closedPorts: [4222, 8222],
  ...over,
});
const any = rules({ policy: "any" });

/** Whether the URL passes as it is written; throws the errors of `parseCallbackUrl`. */
function passes(text: string, under: CallbackRules): boolean {
  return judgeUrl(parseCallbackUrl(text), under) === undefined;
}

describe("invalid callback addresses", () => {
  test.each([
    "",
    "example.com",
    "/function/echo",
    "//example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "javascript:alert(1)",
    "ftp://example.com/",
    "http://",
    "http:///path",
    "http:/example.com",
    "http:example.com",
    "http://a@127.0.0.1/",
    "http://a:b@example.com/",
    "http://@example.com/",
    "http://:@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://exa mple.com/",
    "http://example.com/\r\nX: y",
    "http://example.com/\u0000",
    "http://example.com/\t",
    "http://ex\u00e4mple.com/",
    "http://example.com:99999/",
    "http://[::1/",
    "http://999.1.1.1/",
    `http://example.com/${"a".repeat(8_192)}`,
    `http://example.com/${"a".repeat(2_048 - 18)}`,
  ])("%j", (text) => {
    expect(() => parseCallbackUrl(text)).toThrow(PlatformError);
    expect(() => parseCallbackUrl(text)).toThrow(/^Cannot call back at/);
  });

  test("the longest address passes, with a scheme in any case", () => {
    expect(parseCallbackUrl(`http://example.com/${"a".repeat(2_048 - 19)}`).hostname).toBe("example.com");
    expect(parseCallbackUrl("HTTPS://EXAMPLE.COM/a?b=@c").href).toBe("https://example.com/a?b=@c");
  });
});

describe("addresses of security.md §5", () => {
  const never = [
    "0.0.0.0",
    "0.1.2.3",
    "169.254.169.254",
    "169.254.0.1",
    "192.0.0.1",
    "192.0.0.255",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "fe80::1",
    "febf::1",
    "ff02::1",
    "ff00::",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "::ffff:0.0.0.0",
    "2002:e000:1::",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
  ];
  const notPublic = [
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "::1",
    "fc00::1",
    "fdff::1",
    "::ffff:127.0.0.1",
    "::ffff:10.1.2.3",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2002:c0a8:1::1",
    "64:ff9b:1:7f00:0:100::",
    "::7f00:1",
    "fec0::1",
    "100::1",
    "2001:db8::1",
    "2001::1",
    "4000::1",
    "203.0.113.7",
  ];
  const open = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "169.253.0.1",
    "192.0.1.1",
    "192.169.0.1",
    "198.17.0.1",
    "198.20.0.1",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
  ];

  test.each(never)("%s is refused under both policies", (address) => {
    expect(judgeAddress(address, 80, rules())).toBeDefined();
    expect(judgeAddress(address, 80, any)).toBeDefined();
  });
  test.each(notPublic)("%s is refused under public alone", (address) => {
    expect(judgeAddress(address, 80, rules())).toBeDefined();
    expect(judgeAddress(address, 80, any)).toBeUndefined();
  });
  test.each(open)("%s passes under both policies", (address) => {
    expect(judgeAddress(address, 80, rules())).toBeUndefined();
    expect(judgeAddress(address, 80, any)).toBeUndefined();
  });

  test("whatever passes under public is a public address", () => {
    const octets = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(octets, fc.boolean(), (bytes, four) => {
        const address = ipaddr.fromByteArray([...bytes.subarray(0, four ? 4 : 16)]);
        if (judgeAddress(address.toString(), 80, rules()) !== undefined) return;
        expect(["unicast", "6to4", "rfc6052", "ipv4Mapped"]).toContain(address.range());
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("addresses as they are written", () => {
  test.each([
    "http://127.1/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[::1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://metadata.google.internal/",
    "http://METADATA.google.internal./",
    "http://127.0.0.1:4222/",
    "http://10.0.0.1:8080/function/x",
  ])("%s is refused under public", (text) => {
    expect(passes(text, rules())).toBe(false);
  });

  test.each([
    "http://169.254.169.254/",
    "http://metadata.google.internal/",
    "http://metadata/",
    "http://[::ffff:169.254.169.254]/",
    "http://0/",
    "http://127.0.0.1:4222/",
    "http://127.1:8222/",
    "http://[::1]:4222/",
  ])("%s is refused under any", (text) => {
    expect(passes(text, any)).toBe(false);
  });

  test.each([
    "http://127.0.0.1:9000/x",
    "http://192.168.1.5/",
    "http://[::1]:9000/",
    "http://receiver.local/",
    "https://example.com/a?b#c",
  ])("%s passes under any", (text) => {
    expect(passes(text, any)).toBe(true);
  });

  test("host names are judged when they are resolved", () => {
    expect(passes("http://localhost/", rules())).toBe(true);
    expect(passes("https://example.com/", rules())).toBe(true);
  });
});

describe("exceptions", () => {
  test("the gateway's own origin passes for functions only", () => {
    for (const under of [rules(), any]) {
      expect(passes("http://gateway.weir:8080/function/echo", under)).toBe(true);
      expect(passes("http://gateway.weir:8080/async-function/echo.dev/x?y", under)).toBe(true);
      expect(passes("http://gateway.weir:8080/system/functions", under)).toBe(false);
      expect(passes("http://gateway.weir:8080/function", under)).toBe(false);
      expect(passes("http://gateway.weir:8080/function/../system/functions", under)).toBe(false);
      expect(passes("http://gateway.weir:8080/x/function/echo", under)).toBe(false);
    }
    const literal = rules({ gatewayOrigins: ["http://127.0.0.1:8080"] });
    expect(passes("http://127.0.0.1:8080/function/echo", literal)).toBe(true);
    expect(passes("http://127.0.0.1:8081/function/echo", literal)).toBe(false);
  });

  test("allowed hosts, hosts with a port, and blocks pass", () => {
    const under = rules({ allow: ["10.1.0.0/16", "192.168.0.9", "127.0.0.1:9000", "fd00::/8"] });
    expect(passes("http://10.1.2.3/", under)).toBe(true);
    expect(passes("http://10.2.2.3/", under)).toBe(false);
    expect(passes("http://192.168.0.9:1234/", under)).toBe(true);
    expect(passes("http://127.0.0.1:9000/", under)).toBe(true);
    expect(passes("http://127.0.0.1:9001/", under)).toBe(false);
    expect(passes("http://[fd12::1]/", under)).toBe(true);
    expect(judgeAddress("::ffff:10.1.2.3", 80, under)).toBeUndefined();
    expect(judgeAddress("10.1.2.3", 80, rules({ allow: ["no block", "10.1.2.3/99"] }))).toBeDefined();
  });
});

test("the gateway's own origins are its internal and public names", () => {
  const origins = gatewayOrigins({
    platformNamespace: "weir",
    clusterGatewayUrl: "http://gateway.weir.svc.cluster.local.:8080",
    publicUrls: ["https://faas.example.com/", undefined, "nonsense"],
  });
  expect(origins).toEqual([
    "http://gateway.weir.svc.cluster.local.:8080",
    "http://gateway.weir:8080",
    "http://gateway.weir.svc.cluster.local:8080",
    "https://faas.example.com",
  ]);
});

test.each([
  [undefined, [2_375, 2_376]],
  ["", [2_375, 2_376]],
  ["unix:///var/run/docker.sock", [2_375, 2_376]],
  ["tcp://engine:2376", [2_375, 2_376]],
  ["tcp://engine:4000", [2_375, 2_376, 4_000]],
])("with DOCKER_HOST %j the ports of the container engine are %j", (dockerHost, ports) => {
  expect(enginePorts(dockerHost)).toEqual(ports);
});

test("a gateway elsewhere has its service names as origins, too", () => {
  const origins = gatewayOrigins({ platformNamespace: "weir", clusterGatewayUrl: "http://edge:80", publicUrls: [] });
  expect(origins).toEqual([
    "http://edge",
    "http://gateway.weir:8080",
    "http://gateway.weir.svc.cluster.local:8080",
    "http://gateway.weir.svc.cluster.local.:8080",
  ]);
});

describe("the message of a refusal gives the reason", () => {
  const long = `http://example.com/${"a".repeat(2_048)}`;
  test.each([
    [long, "longer than 2048 characters"],
    ["http://example.com/\t", "only printable ASCII without backslashes is allowed"],
    ["http://example.com\\@127.0.0.1/", "only printable ASCII without backslashes is allowed"],
    ["//example.com/", "expected an absolute address with http or https"],
    ["ftp://h/?http://example.com/", "expected an absolute address with http or https"],
    ["http://999.1.1.1/", "it is not a valid address"],
    [`http://example.com/?${'"'.repeat(1_000)}`, "encoded it is longer than 2048 characters"],
    ["http://a@example.com/", "a user part is not allowed"],
    ["http://:b@example.com/", "a user part is not allowed"],
    ["http://@example.com/", "a user part is not allowed"],
  ])("%s", (text, reason) => {
    const refused = expect.objectContaining({
      code: "invalid_callback_url",
      message: expect.stringMatching(new RegExp(`: ${reason}$`)),
    });
    expect(() => parseCallbackUrl(text)).toThrow(refused);
  });

  test("shows at most 200 characters, and no password", () => {
    expect(() => parseCallbackUrl(long)).toThrow(
      `Cannot call back at "${long.slice(0, 200)}": longer than 2048 characters`,
    );
    expect(() => parseCallbackUrl("http://me:s3cret@example.com/")).toThrow(
      'Cannot call back at "example.com/": a user part is not allowed',
    );
    expect(parseCallbackUrl("http://example.com/?http://a@b").hostname).toBe("example.com");
  });

  test.each([
    ["http://gateway.weir:8080/system/functions", "the gateway takes callbacks for functions only"],
    ["http://metadata.google.internal/", "it is a metadata service"],
    ["http://169.254.169.254/", "it is a metadata service"],
    ["http://169.254.1.1/", "169.254.1.1 is no address of a host (linkLocal)"],
    ["http://10.0.0.1/", "10.0.0.1 is not public (private)"],
  ])("%s", (text, reason) => {
    expect(judgeUrl(parseCallbackUrl(text), rules())).toBe(reason);
  });
});

test("closed ports are refused at addresses that are not public, and at this machine's own", () => {
  const own = rules({ policy: "any", ownAddresses: () => ["93.184.216.34"] });
  const closed = "port 4222 belongs to the platform";
  expect(judgeAddress("10.0.0.1", 4_222, own)).toBe(closed);
  expect(judgeAddress("93.184.216.34", 4_222, own)).toBe(closed);
  expect(judgeAddress("93.184.216.34", 4_223, own)).toBeUndefined();
  expect(judgeAddress("93.184.216.35", 4_222, own)).toBeUndefined();
  expect(judgeAddress("93.184.216.34", 4_222, any)).toBeUndefined();
});

describe("what the platform listens on", () => {
  const machine = rules({
    policy: "any",
    gatewayOrigins: ["http://127.0.0.1:8080"],
    gatewayPorts: [8080],
    ownAddresses: () => ["192.168.1.5", "2001:db8::5"],
    isReplica: replicasAt(() => ["127.0.0.1:31001", "172.18.0.2:8080", "[fd00::2]:8080"]),
  });
  const everything = { ...machine, allow: ["0.0.0.0/0", "::/0", "127.0.0.1", "192.168.1.5:31001", "172.18.0.2"] };
  const hosts = [
    "127.0.0.1",
    "127.0.0.2",
    "127.1",
    "0x7f.1",
    "2130706433",
    "192.168.1.5",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2001:db8::5]",
    "0.0.0.0",
    "[::]",
  ];

  test.each(hosts)("a replica of this machine is refused at %s, whatever is allowed", (host) => {
    for (const under of [machine, everything]) expect(passes(`http://${host}:31001/`, under)).toBe(false);
    expect(judgeUrl(parseCallbackUrl("http://127.0.0.1:31001/"), machine)).toBe(
      "a function listens there; it is called at the gateway, by /function/<name>",
    );
  });

  test.each(hosts)("the broker and the gateway's other paths are refused at %s, whatever is allowed", (host) => {
    for (const under of [machine, everything]) {
      expect(passes(`http://${host}:4222/`, under)).toBe(false);
      expect(passes(`http://${host}:8080/system/functions`, under)).toBe(false);
    }
  });

  test.each(["172.18.0.2:8080", "172.18.0.2:9000", "[::ffff:172.18.0.2]:8080", "[fd00::2]:1"])(
    "a replica with an address of its own is refused at %s",
    (place) => {
      for (const under of [machine, everything]) expect(passes(`http://${place}/`, under)).toBe(false);
    },
  );

  test("functions pass at each address of the gateway, other ports and neighbours, too", () => {
    for (const host of ["127.0.0.1", "[::1]", "192.168.1.5"])
      expect(passes(`http://${host}:8080/function/echo`, machine)).toBe(true);
    expect(passes("http://127.0.0.1:31002/", machine)).toBe(true);
    expect(passes("http://172.18.0.3:8080/system", machine)).toBe(true);
  });

  test("a block that is allowed opens no port of the platform, a host that is written does", () => {
    const under = { ...machine, allow: ["10.0.0.0/8", "10.1.1.1"] };
    expect(passes("http://10.0.0.1:4222/", under)).toBe(false);
    expect(passes("http://10.0.0.1:4223/", under)).toBe(true);
    expect(passes("http://10.1.1.1:4222/", under)).toBe(true);
  });

  test("names are judged when they are resolved: the gateway's addresses pass for functions only", () => {
    const at = (text: string): string | undefined =>
      judgeAddress("127.0.1.1", 8080, rulesAtConnect(new URL(text), machine));
    expect(at("http://host.lan:8080/function/echo")).toBeUndefined();
    expect(at("http://host.lan:8080/system/functions")).toBe("the gateway takes callbacks for functions only");
  });
});

test("an address without a port has that of its scheme", () => {
  const port = (text: string): number => portOf(new URL(text));
  expect(["http://h/", "https://h/", "http://h:8080/", "https://h:80/"].map(port)).toEqual([80, 443, 8_080, 80]);
  const under = rules({ allow: ["10.0.0.1:443"] });
  expect(passes("https://10.0.0.1/", under)).toBe(true);
  expect(passes("http://10.0.0.1/", under)).toBe(false);
});
