import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from "@grpc/grpc-js";

import { greeter, type Greeting, type Name } from "./greeter.ts";

const server = new Server();
server.addService(greeter, {
  Greet: ({ request }: ServerUnaryCall<Name, Greeting>, done: sendUnaryData<Greeting>) => {
    if (request.name === "") {
      done({ code: status.INVALID_ARGUMENT, details: "Say who you are" });
      return;
    }
    const trailers = new Metadata();
    trailers.set("letters", String(request.name.length));
    done(null, { text: `Hello ${request.name}` }, trailers);
  },
  Count: (call: ServerWritableStream<Name, Greeting>) => {
    for (const number of [1, 2, 3]) call.write({ text: `${call.request.name} ${number}` });
    call.end();
  },
  Chat: (call: ServerDuplexStream<Name, Greeting>) => {
    call.on("data", ({ name }: Name) => call.write({ text: `Hello ${name}` }));
    call.on("end", () => call.end());
  },
});
server.bindAsync(`127.0.0.1:${process.env["PORT"]}`, ServerCredentials.createInsecure(), (err) => {
  if (err !== null) throw err;
});
process.on("SIGTERM", () => server.tryShutdown(() => process.exit(0)));
