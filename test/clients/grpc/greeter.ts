import type { ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** The service that `greeter.proto` defines. */
export const greeter = loadSync("greeter.proto", { includeDirs: [import.meta.dirname], defaults: true })[
  "example.Greeter"
] as ServiceDefinition;

export interface Name {
  readonly name: string;
}
export interface Greeting {
  readonly text: string;
}
