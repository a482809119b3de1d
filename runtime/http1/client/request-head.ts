import type { Readable } from "node:stream";

import { isToken } from "../../api/http-grammar.ts";
import type { UpstreamRequest } from "../../core/ports/upstream.ts";
import { contentLengthOf } from "../framing-rules.ts";
import {
  checkHeaderName,
  checkHeaderValue,
  UnsendableHeader,
  writeHeaders,
  type WrittenHeaders,
} from "../write-headers.ts";

/** A request in the form in which it is sent. */
export interface RawRequest {
  /** Request line, headers and the empty line, one character per byte. */
  readonly head: string;
  readonly body: Readable | Uint8Array | null;
  /** Bytes of a body that is a stream; undefined: sent in transfer chunks. */
  readonly length: number | undefined;
  /** Whether the connection may be used again after it. */
  readonly persistent: boolean;
  readonly headOnly: boolean;
  readonly upgrade: string | undefined;
  readonly wantsTrailers: boolean;
  /** Whether it may be retried when the replica may have received it: idempotent method, body still complete. */
  readonly repeatable: boolean;
}

/** Methods that have a body; with others a replica may leave a body unread and take it for the next request. */
const withBody: ReadonlySet<string> = new Set(["PUT", "POST", "PATCH", "QUERY", "PROPFIND", "PROPPATCH"]);

/** RFC 9110 section 9.2.2, limited to the methods that functions are called with. */
const idempotent: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Latin-1 only: a character above 0xff would be cut to one byte when sent, perhaps to a line break. */
const targetSyntax = /^\/[\x21-\xff]*$/;
/** Headers of framing and connection, which are written here alone. */
const ownHeaders = /^(?:host|expect|upgrade|connection|keep-alive|te|transfer-encoding)$/i;
const lengthHeader = /^content-length$/i;

const kind = { pass: 0, length: 1 } as const;
type Kind = (typeof kind)[keyof typeof kind];
/** Cache of kinds by header name as spelt; bounded, as clients choose the names. */
const kinds = new Map<string, Kind>();
const maxKinds = 2_000;

/** A request that cannot be sent; nothing of it was sent. */
export class UnsendableRequest extends Error {
  override readonly name = "UnsendableRequest";
}

/**
 * Writes a request for the replica at `address`, which is the value of its `Host` if the request has none.
 * @throws UnsendableRequest, UnsendableHeader when a part of it cannot be sent, or its body has another length than its head states
 */
export function rawRequest(address: string, request: UpstreamRequest): RawRequest {
  const { method, target, host = address, forward, headers, body, upgrade, expectsContinue } = request;
  const wantsTrailers = request.wantsTrailers === true;
  if (!isToken(method)) throw new UnsendableRequest(`Cannot send method "${method.slice(0, 100)}": it is not a token`);
  if (!targetSyntax.test(target))
    throw new UnsendableRequest(`Cannot send target "${target.slice(0, 100)}": it is not a path`);
  const headOnly = method === "HEAD";
  if (host !== address) checkHeaderValue("host", host);
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: `;
  if (upgrade !== undefined) {
    if (!isToken(upgrade))
      throw new UnsendableRequest(`Cannot send upgrade "${upgrade.slice(0, 100)}": it is not a token`);
    head += `upgrade\r\nupgrade: ${upgrade}\r\n`;
  } else if (wantsTrailers) {
    head += headOnly ? "close, te\r\nte: trailers\r\n" : "keep-alive, te\r\nte: trailers\r\n";
  } else {
    head += headOnly ? "close\r\n" : "keep-alive\r\n";
  }
  if (expectsContinue === true && body !== null && !(body instanceof Uint8Array)) head += "expect: 100-continue\r\n";
  if (forward !== undefined) head += forward.made(writeForward).lines;
  let length: number | undefined;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const value = headers[index + 1] ?? "";
    const is = kinds.get(name) ?? classify(name);
    checkHeaderValue(name, value);
    if (is === kind.length) {
      const stated = contentLengthOf(value);
      if (length !== undefined || stated === undefined)
        throw new UnsendableRequest("Cannot send the length: it is not one number");
      length = stated;
    } else {
      head += name + ": " + value + "\r\n";
    }
  }
  const size = body === null ? 0 : body instanceof Uint8Array ? body.byteLength : length;
  if (length !== undefined && length !== size)
    throw new UnsendableRequest(`Cannot send ${size} bytes of body: the head says ${length}`);
  if (size === undefined) head += "transfer-encoding: chunked\r\n\r\n";
  else if (size > 0 || withBody.has(method)) head += `content-length: ${size}\r\n\r\n`;
  else head += "\r\n";
  // After a response to HEAD with a body, or a body left unread, the two sides would be out of step.
  const persistent = !headOnly && upgrade === undefined && (size === 0 || withBody.has(method));
  const whole = size === 0 || body instanceof Uint8Array;
  const repeatable = whole && upgrade === undefined && idempotent.has(method);
  return {
    head,
    body: size === 0 ? null : body,
    length,
    persistent,
    headOnly,
    upgrade,
    wantsTrailers,
    repeatable,
  };
}

/** @throws Error when a header cannot be sent, or is `Content-Length` */
function writeForward(list: readonly string[]): WrittenHeaders {
  return writeHeaders(list, checkForward);
}

function checkForward(name: string): void {
  if ((kinds.get(name) ?? classify(name)) === kind.length)
    throw new UnsendableRequest("Cannot send the length: it is not that of this request alone");
}

/** @throws Error when a header of this name may not be sent */
function classify(name: string): Kind {
  checkHeaderName(name);
  if (ownHeaders.test(name)) throw new UnsendableHeader(`Cannot send header "${name}": it belongs to the connection`);
  const is = lengthHeader.test(name) ? kind.length : kind.pass;
  if (kinds.size < maxKinds) kinds.set(name, is);
  return is;
}
