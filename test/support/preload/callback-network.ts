import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net, { type TcpNetConnectOpts } from "node:net";

/**
 * Preloaded as `…?<name>=<address>,<address>…&dial=<address>~<address>`: a network for tests. Successive look-ups of a
 * name give its addresses in turn, and the last one from then on; `+` joins several addresses of one look-up, `none`
 * means not found. No other name but `localhost` resolves. Connections go to loopback only, and to the second address
 * of `dial` instead of the first.
 */
const query = new URL(import.meta.url).searchParams;
const mapped = new Map(query.getAll("dial").map((pair) => pair.split("~", 2) as [string, string]));
const results = new Map([...query].filter(([name]) => name !== "dial").map(([name, list]) => [name, list.split(",")]));
results.set("localhost", ["127.0.0.1"]);

const resolved = (name: string): Promise<{ address: string; family: number }[]> => {
  const list = results.get(name) ?? ["none"];
  const [result = "none"] = list.length > 1 ? list.splice(0, 1) : list;
  if (result === "none") return Promise.reject(new Error(`getaddrinfo ENOTFOUND ${name}`));
  return Promise.resolve(result.split("+").map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
};
Reflect.set(dns.promises, "lookup", resolved);

const { connect } = net;
const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1";
const dialled = (options: TcpNetConnectOpts, ...rest: unknown[]): unknown => {
  // Other sockets, such as pipes, stay unchanged.
  if (typeof options !== "object" || options.host === undefined) return Reflect.apply(connect, net, [options, ...rest]);
  let host = options.host;
  options.lookup?.(host, { all: true }, (_err, found) => {
    host = Array.isArray(found) ? (found[0]?.address ?? host) : found;
  });
  const { lookup: _lookup, ...others } = options;
  const target = mapped.get(host) ?? (host === "localhost" ? "127.0.0.1" : host);
  if (!isLoopback(target)) throw new Error(`the test's network does not reach ${host}`);
  return Reflect.apply(connect, net, [{ ...others, host: target }, ...rest]);
};
Reflect.set(net, "connect", dialled);
Reflect.set(net, "createConnection", dialled);
syncBuiltinESMExports();
