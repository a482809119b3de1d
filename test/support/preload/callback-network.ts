import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net, { type TcpNetConnectOpts } from "node:net";

/**
 * Preloaded as `…?<name>=<address>,<address>…&dial=<address>~<address>`: a network of the test's own. These names resolve to these
 * addresses, one after the other with each look-up, the last one for ever; several at once are joined by `+`, `none` = not at
 * all. No other name but `localhost` resolves. Connections go to loopback alone: to the second address of `dial` instead
 * of the first, to no other one.
 */
const query = new URL(import.meta.url).searchParams;
const mapped = new Map(query.getAll("dial").map((pair) => pair.split("~", 2) as [string, string]));
const answers = new Map([...query].filter(([name]) => name !== "dial").map(([name, list]) => [name, list.split(",")]));
answers.set("localhost", ["127.0.0.1"]);

const resolved = (name: string): Promise<{ address: string; family: number }[]> => {
  const list = answers.get(name) ?? ["none"];
  const [answer = "none"] = list.length > 1 ? list.splice(0, 1) : list;
  if (answer === "none") return Promise.reject(new Error(`getaddrinfo ENOTFOUND ${name}`));
  return Promise.resolve(answer.split("+").map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
};
Reflect.set(dns.promises, "lookup", resolved);

const { connect } = net;
const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1";
const dialled = (options: TcpNetConnectOpts, ...rest: unknown[]): unknown => {
  // Sockets of other kinds, such as pipes, are as ever.
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
