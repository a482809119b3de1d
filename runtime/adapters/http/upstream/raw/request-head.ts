import type { Readable } from "node:stream";

import { isToken } from "../../../../api/http-grammar.ts";
import type { UpstreamRequest } from "../../../../core/ports/upstream.ts";
import { contentLengthOf } from "../../../../http1/framing-rules.ts";
import {
  checkHeaderName,
  checkHeaderValue,
  UnsendableHeader,
  writeHeaders,
  type WrittenHeaders,
} from "../../../../http1/write-headers.ts";

/** A request made ready to be sent. */
export interface RawRequest {
  /** Request line, headers and the empty line, one character per byte. */
  readonly head: string;
  readonly body: Readable | Uint8Array | null;
  /** Bytes of a body that is a stream; undefined: sent in chunks. */
  readonly length: number | undefined;
  /** Whether the connection may be used again after it. */
  readonly persistent: boolean;
  readonly headOnly: boolean;
  readonly upgrade: "websocket" | undefined;
  /** Whether it may be sent once more when nobody knows if it was heard: its method is idempotent, its body still whole. */
  readonly repeatable: boolean;
}

/** Methods with which a body is meant; of others a replica may not read it, and take it for the next request. */
const withBody: ReadonlySet<string> = new Set(["PUT", "POST", "PATCH", "QUERY", "PROPFIND", "PROPPATCH"]);

/** RFC 9110 section 9.2.2, as far as functions are called with them. */
const idempotent: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** A character above a byte would be cut to one when it is sent, to a line's end perhaps. */
const targetSyntax = /^\/[\x21-\xff]*$/;
/** Say how the request is framed or what becomes of the connection, which is said here. */
const ownHeaders = /^(?:host|expect|upgrade|connection|keep-alive|transfer-encoding)$/i;
const lengthHeader = /^content-length$/i;

const kind = { pass: 0, length: 1 } as const;
type Kind = (typeof kind)[keyof typeof kind];
/** What headers are by their names as they were spelt before; bounded, as clients choose them. */
const kinds = new Map<string, Kind>();
const mostKinds = 2_000;

/**
 * Makes a request ready for the replica at `host`, which is the value of its `Host`.
 * @throws Error when something in it cannot be sent, or its body has another length than its head says
 */
export function rawRequest(host: string, request: UpstreamRequest): RawRequest {
  const { method, target, forward, headers, body, upgrade } = request;
  if (!isToken(method)) throw new Error(`Cannot send method "${method.slice(0, 100)}": it is no token`);
  if (!targetSyntax.test(target)) throw new Error(`Cannot send target "${target.slice(0, 100)}": it is no path`);
  const headOnly = method === "HEAD";
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: `;
  if (upgrade !== undefined) head += `upgrade\r\nupgrade: ${upgrade}\r\n`;
  else head += headOnly ? "close\r\n" : "keep-alive\r\n";
  if (forward !== undefined) head += forward.made(writeForward).lines;
  let length: number | undefined;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const value = headers[index + 1] ?? "";
    const is = kinds.get(name) ?? learn(name);
    checkHeaderValue(name, value);
    if (is === kind.length) {
      const said = contentLengthOf(value);
      if (length !== undefined || said === undefined) throw new Error("Cannot send the length: it is not one number");
      length = said;
    } else {
      head += name + ": " + value + "\r\n";
    }
  }
  const size = body === null ? 0 : body instanceof Uint8Array ? body.byteLength : length;
  if (length !== undefined && length !== size)
    throw new Error(`Cannot send ${size} bytes of body: the head says ${length}`);
  if (size === undefined) head += "transfer-encoding: chunked\r\n\r\n";
  else if (size > 0 || withBody.has(method)) head += `content-length: ${size}\r\n\r\n`;
  else head += "\r\n";
  // A replica that answers HEAD with a body, or leaves a body unread, would be misunderstood from then on.
  const persistent = !headOnly && upgrade === undefined && (size === 0 || withBody.has(method));
  const whole = size === 0 || body instanceof Uint8Array;
  const repeatable = whole && upgrade === undefined && idempotent.has(method);
  return { head, body: size === 0 ? null : body, length, persistent, headOnly, upgrade, repeatable };
}

/** @throws Error when one of them cannot be sent, or is the length */
function writeForward(list: readonly string[]): WrittenHeaders {
  return writeHeaders(list, checkForward);
}

function checkForward(name: string): void {
  if ((kinds.get(name) ?? learn(name)) === kind.length)
    throw new Error("Cannot send the length: it is not that of this request alone");
}

/** @throws Error when there may be no such header */
function learn(name: string): Kind {
  checkHeaderName(name);
  if (ownHeaders.test(name)) throw new UnsendableHeader(`Cannot send header "${name}": it is the connection's`);
  const is = lengthHeader.test(name) ? kind.length : kind.pass;
  if (kinds.size < mostKinds) kinds.set(name, is);
  return is;
}
