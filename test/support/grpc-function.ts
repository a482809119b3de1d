import {
  makeGenericClientConstructor,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";

const bytes = (text: string): Buffer => Buffer.from(text);
const text = (buffer: Buffer): string => buffer.toString();
const codec = {
  requestSerialize: bytes,
  requestDeserialize: text,
  responseSerialize: bytes,
  responseDeserialize: text,
};
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/test.Greeter/${name}`,
  originalName: name,
  requestStream,
  responseStream,
  ...codec,
});

/** A service whose messages are plain text. */
export const greeter = {
  Greet: method("Greet", false, false),
  Fail: method("Fail", false, false),
  Late: method("Late", false, false),
  Count: method("Count", false, true),
  Chat: method("Chat", true, true),
} as const satisfies ServiceDefinition;

const implementation: UntypedServiceImplementation = {
  Greet: (call: ServerUnary, done: Done) => {
    const initial = new Metadata();
    initial.set("seen", String(call.metadata.get("x-mine")[0] ?? ""));
    call.sendMetadata(initial);
    const trailing = new Metadata();
    trailing.set("sum", "7");
    done(null, `hello ${call.request}`, trailing);
  },
  Fail: (_call: ServerUnary, done: Done) => done({ code: status.FAILED_PRECONDITION, details: "not today" }),
  Late: () => {},
  Count: (call: ServerUnary & { write(message: string): void; end(): void }) => {
    for (let count = 1; count <= 5; count += 1) call.write(`${call.request}${count}`);
    call.end();
  },
  Chat: (call: NodeJS.EventEmitter & { write(message: string): void; end(): void }) => {
    call.on("data", (message: string) => call.write(`re: ${message}`));
    call.on("end", () => call.end());
  },
};

interface ServerUnary {
  readonly request: string;
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
}
type Done = (err: { code: status; details: string } | null, reply?: string, trailer?: Metadata) => void;

/** A client class that leaves the paths of methods unchanged. */
export const GenericClient = makeGenericClientConstructor({}, "generic");

/** A gRPC server without TLS, like a function. */
export async function openGrpcFunction(): Promise<{ readonly address: string; close(): void }> {
  const server = new Server();
  server.addService(greeter, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (err, bound) =>
      err === null ? resolve(bound) : reject(err),
    );
  });
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}
