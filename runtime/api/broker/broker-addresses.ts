/** Port of a nats-server whose address names none. */
const defaultPort = 4_222;
const address =
  /^(?:(?:nats|tls):\/\/)?(?:[A-Za-z0-9_](?:[-A-Za-z0-9_.]*[A-Za-z0-9_.])?|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?$/;

/** The addresses of a text that separates them by commas or white space, each once, in their order. */
export function brokerAddresses(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((part) => part !== ""))];
}

/** Whether a text is the address of one server, such as `nats://127.0.0.1:4222`, `tls://[::1]` or `broker`. */
export function isBrokerAddress(text: string): boolean {
  return brokerPort(text) !== undefined;
}

/** The TCP ports of the addresses in a text; an address that names none has 4222. */
export function brokerPorts(text: string): number[] {
  const ports = brokerAddresses(text).map((each) => brokerPort(each));
  return [...new Set(ports.filter((port) => port !== undefined))];
}

function brokerPort(text: string): number | undefined {
  const found = address.exec(text);
  if (found === null) return undefined;
  const port = Number(found[1] ?? defaultPort);
  return port >= 1 && port <= 65_535 ? port : undefined;
}
