import { createServer } from "node:http";
import { Duplex } from "node:stream";

/** One request as a server reads it; the body one character per byte. */
export interface RequestReading {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Whether the connection goes on after it. */
  readonly goesOn: boolean;
}

/** What node's own server makes of bytes after which the connection ends; undefined unless they are one request and no more. */
export function readRequestAsNode(bytes: Uint8Array): Promise<RequestReading | undefined> {
  return new Promise((resolve) => {
    const connection = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
    const readings: RequestReading[] = [];
    const server = createServer({ requireHostHeader: false }, (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
      request.on("end", () => {
        const { method, url: target, rawHeaders } = request;
        readings.push({ method, target, rawHeaders, body, goesOn: response.shouldKeepAlive });
        response.end();
        // Whatever follows has been read by then.
        setImmediate(() => resolve(readings.length === 1 ? readings[0] : undefined));
      });
    });
    server.maxHeadersCount = 0;
    const refused = (): void => resolve(undefined);
    server.on("clientError", refused).on("upgrade", refused).on("connect", refused);
    server.on("checkContinue", refused).on("checkExpectation", refused);
    server.emit("connection", connection);
    connection.push(bytes);
  });
}
