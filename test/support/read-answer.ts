import { request } from "node:http";
import { Duplex } from "node:stream";

import { ResponseParser, type ResponseSink } from "../../runtime/http1/response-parser.ts";
import type { ResponseHead } from "../../runtime/http1/response-head.ts";
import type { HeadCache } from "../../runtime/http1/head-cache.ts";
import { below, seededRandom } from "../../scripts/random.ts";

/** How the bytes of a connection are read on which one response is awaited. */
export interface AnswerReading {
  readonly status: number;
  readonly headers: readonly string[];
  /** One character per byte. */
  readonly body: string;
  /** `switched`: another protocol follows, `open`: the response is incomplete, `cut`: it will stay incomplete. */
  readonly outcome: "whole" | "switched" | "malformed" | "open" | "cut";
  /** Whether the connection may be used again. */
  readonly persistent: boolean;
  /** The bytes after a change of protocol. */
  readonly rest: string;
}

/** The request; `ends`: the replica closes the connection after the last byte; `memory`: heads of former responses. */
export interface Asked {
  readonly headOnly?: boolean;
  readonly upgrade?: string | undefined;
  readonly ends?: boolean;
  readonly memory?: HeadCache<ResponseHead>;
}

/** Reads a response from these chunks, which share memory as reads of a connection do. */
export function readAnswer(chunks: readonly Uint8Array[], asked: Asked = {}): AnswerReading {
  const reading = {
    status: 0,
    headers: [] as readonly string[],
    body: "",
    outcome: "open" as AnswerReading["outcome"],
    persistent: false,
    rest: "",
  };
  const finish = (outcome: AnswerReading["outcome"]): void => {
    if (reading.outcome !== "open") throw new Error(`${outcome} after ${reading.outcome}`);
    reading.outcome = outcome;
  };
  const sink: ResponseSink = {
    onHead: (status, headers) => {
      if (reading.status !== 0) throw new Error("a second head");
      Object.assign(reading, { status, headers });
    },
    onData: (chunk) => {
      if (reading.outcome !== "open" || chunk.length === 0) throw new Error("data that is none");
      reading.body += chunk.toString("latin1");
    },
    onEnd: (persistent) => {
      finish("whole");
      reading.persistent = persistent;
    },
    onSwitch: (headers, rest) => {
      finish("switched");
      Object.assign(reading, { headers, rest: rest.toString("latin1") });
    },
    onMalformed: () => finish("malformed"),
  };
  const parser = new ResponseParser(sink, asked.memory);
  parser.begin({ headOnly: asked.headOnly ?? false, upgrade: asked.upgrade });
  const shared = Buffer.alloc(Math.max(1, ...chunks.map((chunk) => chunk.length)));
  for (const chunk of chunks) {
    if (chunk.length === 0) continue;
    shared.set(chunk);
    const read = shared.subarray(0, chunk.length);
    if (reading.outcome === "switched") reading.rest += read.toString("latin1");
    // Bytes on an idle connection close it.
    else if (reading.outcome === "whole") reading.persistent = false;
    else parser.parse(read);
  }
  if (asked.ends === true && reading.outcome === "open" && !parser.end()) finish("cut");
  return reading;
}

/** The bytes in chunks of random lengths up to `most`. */
export function cutAtRandom(bytes: Uint8Array, most: number, seed: number): Uint8Array[] {
  const random = seededRandom(seed);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + below(random, most);
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

/** The bytes of the first response; all of them if only the end of the connection ends it. */
export function bytesOfAnswer(bytes: Uint8Array, asked: Asked): Uint8Array {
  for (let end = 1; end < bytes.length; end += 1) {
    // Quadratic, so only for short ones: the parser does not tell how many bytes it used.
    if (readAnswer([bytes.subarray(0, end)], { ...asked, ends: false }).outcome === "whole")
      return bytes.subarray(0, end);
  }
  return bytes;
}

/** How node's own client reads a response after which the connection ends; undefined if it refuses it. */
export function readAsNode(
  bytes: Uint8Array,
  { headOnly }: Asked,
): Promise<Pick<AnswerReading, "status" | "headers" | "body"> | undefined> {
  return new Promise((resolve) => {
    let sent = false;
    const connection = new Duplex({
      read: () => {},
      write: (_chunk, _encoding, done) => {
        done();
        if (sent) return;
        sent = true;
        connection.push(bytes);
        connection.push(null);
      },
    });
    const outgoing = request({
      method: headOnly === true ? "HEAD" : "GET",
      createConnection: () => connection,
      maxHeaderSize: 200_000,
    });
    const refused = (): void => resolve(undefined);
    outgoing.maxHeadersCount = 0;
    outgoing.on("error", refused).on("close", refused).on("upgrade", refused);
    outgoing.on("response", (response) => {
      // A body that the connection's end delimits is reported after the request has closed.
      outgoing.off("close", refused);
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
      response.on("error", refused).on("close", refused);
      response.on("end", () => {
        const { statusCode: status = 0, rawHeaders: headers, complete } = response;
        resolve(complete ? { status, headers, body } : undefined);
      });
    });
    outgoing.end();
  });
}
