import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";

const maxMessageBytes = 400 * 1_024 * 1_024;
const parentCheckEvery = 1_000;

/**
 * Serves a plugin to the engine and writes the port to stdout, as every plugin does. Methods that are not in `methods`
 * get UNIMPLEMENTED.
 */
export function servePlugin(service: ServiceDefinition, methods: UntypedServiceImplementation): void {
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
  });
  server.addService(service, methods);
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (err, port) => {
    if (err !== null) throw err;
    process.stdout.write(`${port}\n`);
  });
  // An engine that was killed does not end its plugins.
  const engine = process.ppid;
  setInterval(() => process.ppid === engine || process.exit(1), parentCheckEvery).unref();
}
