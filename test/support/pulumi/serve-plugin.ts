import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";

const biggestMessage = 400 * 1_024 * 1_024;
const lookAtParent = 1_000;

/**
 * Serves what the engine asks of a plugin and tells it the port, on standard output, as every plugin does. What is not in
 * `methods` is answered UNIMPLEMENTED.
 */
export function servePlugin(service: ServiceDefinition, methods: UntypedServiceImplementation): void {
  const server = new Server({
    "grpc.max_receive_message_length": biggestMessage,
    "grpc.max_send_message_length": biggestMessage,
  });
  server.addService(service, methods);
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (err, port) => {
    if (err !== null) throw err;
    process.stdout.write(`${port}\n`);
  });
  // An engine that was killed takes nobody with it.
  const engine = process.ppid;
  setInterval(() => process.ppid === engine || process.exit(1), lookAtParent).unref();
}
