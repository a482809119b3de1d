// Pipes each connection to the port in the first argument, without parsing what passes.
import { connect, createServer, type AddressInfo } from "node:net";

const port = Number(process.argv[2]);
const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
  const end = (): void => {
    client.destroy();
    upstream.destroy();
  };
  client.on("error", end).on("close", end);
  upstream.on("error", end).on("close", end);
  client.pipe(upstream);
  upstream.pipe(client);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on("SIGTERM", () => process.exit(0));
