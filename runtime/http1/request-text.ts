import { httpGrammar } from "../api/http-grammar.ts";
import type { HeadKind, HeadText } from "./head-assembler.ts";
import { readHeaderLines } from "./header-lines.ts";

/** Most bytes of a head (contract §1.6). */
const limit = 16_384;
const lineEnd = "\r\n";
const { token } = httpGrammar;
const requestLine = new RegExp(`(${token}) ([\\x21-\\x7e\\x80-\\xff]+) HTTP/1\\.([01])\\r\\n`, "y");
const requestLineStart = new RegExp(`^(?:${token}(?: (?:[\\x21-\\x7e\\x80-\\xff]+(?: [\\x21-\\x7e]*\\r?)?)?)?)?$`);

const nearRequestLine = /^\s*(\S{1,100})(?:\s+(\S{1,1000}))?/;

/** Why a head is refused. */
export interface HeadRefusal {
  readonly code: "malformed_request" | "headers_too_large";
  /** Ends a sentence that begins "Cannot read request: ". */
  readonly why: string;
}

/**
 * The head of a request as text: one request line and header lines, parsed strictly by RFC 9112 (`security.md` H2,
 * H12). Target and headers are not interpreted.
 */
export class RequestText implements HeadText<HeadRefusal> {
  method = "";
  /** As sent, one character per byte; contains neither blanks nor control bytes. */
  target = "";
  version: "1.0" | "1.1" = "1.1";
  /** Flat: name, value, …; names as sent. */
  readonly rawHeaders: string[] = [];
  readonly cacheable = true;

  read(text: string): number | HeadRefusal {
    let at = 0;
    if (this.method === "") {
      requestLine.lastIndex = 0;
      const match = requestLine.exec(text);
      if (match === null) {
        // The refusal names method and target as far as they can be read.
        [, this.method = "", this.target = ""] = nearRequestLine.exec(text) ?? [];
        return requestHeads.faults.firstLine;
      }
      [, this.method = "", this.target = ""] = match;
      this.version = match[3] === "0" ? "1.0" : "1.1";
      at = requestLine.lastIndex;
    }
    at = readHeaderLines(text, at, this.rawHeaders);
    if (at === text.length) return -1;
    if (text.startsWith(lineEnd, at)) return at + lineEnd.length;
    return malformed("a line of its head is not a header");
  }
}

function malformed(why: string): HeadRefusal {
  return { code: "malformed_request", why };
}

export const requestHeads: HeadKind<RequestText, HeadRefusal> = {
  limit,
  create: () => new RequestText(),
  mayBegin: (text) => requestLineStart.test(text),
  faults: {
    tooLong: { code: "headers_too_large", why: `its head is over the limit of ${limit} bytes` },
    control: malformed("its head has a control byte"),
    firstLine: malformed("its first line is not a request line of HTTP/1.1"),
  },
};
