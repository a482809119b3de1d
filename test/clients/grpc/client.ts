import { once } from "node:events";
import { readFileSync } from "node:fs";

import {
  ChannelCredentials,
  makeGenericClientConstructor,
  status,
  type ClientDuplexStream,
  type ClientReadableStream,
  type Metadata,
  type ServiceDefinition,
  type ServiceError,
} from "@grpc/grpc-js";

import { greeter, type Greeting, type Name } from "./greeter.ts";

/** The methods of `service`, with their paths at the function `name`. */
function behind(name: string, service: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(service).map(([key, method]) => [
    key,
    { ...method, path: `/function/${name}${method.path}` },
  ]);
  return Object.fromEntries(methods);
}

const [address = "", certificate = ""] = process.argv.slice(2);
const Client = makeGenericClientConstructor(behind("greeter", greeter), "Greeter");
const client = new Client(address, ChannelCredentials.createSsl(readFileSync(certificate)));

interface Outcome {
  readonly err: ServiceError | null;
  readonly text: string | undefined;
  readonly trailers: Metadata;
}
const greet = (name: string) =>
  new Promise<Outcome>((resolve) => {
    const outcome: { err: ServiceError | null; text?: string } = { err: null };
    const call = client["Greet"]?.({ name }, (err: ServiceError | null, reply?: Greeting) => {
      outcome.err = err;
      if (reply !== undefined) outcome.text = reply.text;
    });
    call.on("status", ({ metadata }: { metadata: Metadata }) =>
      setImmediate(() => resolve({ err: outcome.err, text: outcome.text, trailers: metadata })),
    );
  });

const { text, trailers } = await greet("Ada");
console.log(`unary: ${text}, letters: ${String(trailers.get("letters")[0])}`);

const { err } = await greet("");
console.log(`error: ${status[err?.code ?? 0]}, ${err?.details}`);

const counted: string[] = [];
const stream: ClientReadableStream<Greeting> = client["Count"]?.({ name: "Ada" });
for await (const greeting of stream) counted.push((greeting as Greeting).text);
console.log(`stream: ${counted.join(", ")}`);

const chat: ClientDuplexStream<Name, Greeting> = client["Chat"]?.();
for (const name of ["Ada", "Grace"]) {
  chat.write({ name });
  const [greeting] = await once(chat, "data");
  console.log(`both ways: ${greeting.text}`);
}
chat.end();
client.close();
