import { request } from "node:http";
import { Duplex } from "node:stream";

import { ResponseParser, type ResponseSink } from "../../runtime/http1/response-parser.ts";
import type { ResponseHead } from "../../runtime/http1/response-head.ts";
import type { HeadCache } from "../../runtime/http1/head-cache.ts";
import { below, seededRandom } from "../../scripts/random.ts";

/** What becomes of the bytes of one connection on which one answer is awaited. */
export interface AnswerReading {
  readonly status: number;
  readonly headers: readonly string[];
  /** One character per byte. */
  readonly body: string;
  /** `switched`: what follows is another protocol, `open`: the answer is not over, `cut`: it never will be. */
  readonly outcome: "whole" | "switched" | "malformed" | "open" | "cut";
  /** Whether the connection may be used again. */
  readonly persistent: boolean;
  /** What came behind a change of protocol. */
  readonly rest: string;
}

/** What was asked; `ends`: the replica closes the connection behind the last byte; `memory`: of answers before. */
export interface Asked {
  readonly headOnly?: boolean;
  readonly upgrade?: string | undefined;
  readonly ends?: boolean;
  readonly memory?: HeadCache<ResponseHead>;
}

/** Reads an answer that comes in these pieces, which share memory as reads of a connection do. */
export function readAnswer(pieces: readonly Uint8Array[], asked: Asked = {}): AnswerReading {
  const reading = {
    status: 0,
    headers: [] as readonly string[],
    body: "",
    outcome: "open" as AnswerReading["outcome"],
    persistent: false,
    rest: "",
  };
  const over = (outcome: AnswerReading["outcome"]): void => {
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
      over("whole");
      reading.persistent = persistent;
    },
    onSwitch: (headers, rest) => {
      over("switched");
      Object.assign(reading, { headers, rest: rest.toString("latin1") });
    },
    onMalformed: () => over("malformed"),
  };
  const parser = new ResponseParser(sink, asked.memory);
  parser.begin({ headOnly: asked.headOnly ?? false, upgrade: asked.upgrade });
  const shared = Buffer.alloc(Math.max(1, ...pieces.map((piece) => piece.length)));
  for (const piece of pieces) {
    if (piece.length === 0) continue;
    shared.set(piece);
    const came = shared.subarray(0, piece.length);
    if (reading.outcome === "switched") reading.rest += came.toString("latin1");
    // What comes on an idle connection closes it.
    else if (reading.outcome === "whole") reading.persistent = false;
    else parser.parse(came);
  }
  if (asked.ends === true && reading.outcome === "open" && !parser.end()) over("cut");
  return reading;
}

/** The bytes in pieces of random lengths up to `most`. */
export function cutAtRandom(bytes: Uint8Array, most: number, seed: number): Uint8Array[] {
  const random = seededRandom(seed);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + below(random, most);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

/** Of the bytes those that make up one answer; all of them if only the end of the connection ends it. */
export function bytesOfAnswer(bytes: Uint8Array, asked: Asked): Uint8Array {
  for (let end = 1; end < bytes.length; end += 1) {
    // Quadratic, so only for short ones: the parser itself does not tell.
    if (readAnswer([bytes.subarray(0, end)], { ...asked, ends: false }).outcome === "whole")
      return bytes.subarray(0, end);
  }
  return bytes;
}

/** What node's own client makes of an answer after which the connection ends; undefined: it refuses it. */
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
    const asking = request({
      method: headOnly === true ? "HEAD" : "GET",
      createConnection: () => connection,
      maxHeaderSize: 200_000,
    });
    const refused = (): void => resolve(undefined);
    asking.maxHeadersCount = 0;
    asking.on("error", refused).on("close", refused).on("upgrade", refused);
    asking.on("response", (response) => {
      // What is read until the end is told after the request was closed.
      asking.off("close", refused);
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
      response.on("error", refused).on("close", refused);
      response.on("end", () => {
        const { statusCode: status = 0, rawHeaders: headers, complete } = response;
        resolve(complete ? { status, headers, body } : undefined);
      });
    });
    asking.end();
  });
}
