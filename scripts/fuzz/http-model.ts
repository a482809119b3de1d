/** A request as the model reads it. */
export interface ModelRequest {
  readonly method: string;
  readonly target: string;
  /** Decoded, one character per byte. */
  readonly body: string;
  /** Well-formed, but against a rule of `security.md` §2: the response is an error, which ends the connection. */
  readonly refused: boolean;
  /** The connection ends after its response. */
  readonly last: boolean;
}

/** How the model reads a stream of bytes. */
export interface ModelReading {
  /** Whole requests, in order; nothing after one that is `last` counts. */
  readonly requests: readonly ModelRequest[];
  /**
   * What follows them: nothing, bytes after a request that ends the connection, part of a request, no head, a head with a
   * broken body, or what the model does not judge.
   */
  readonly rest: "nothing" | "ignored" | "part" | "bad-head" | "bad-body" | "unsure";
  /** Where `rest` begins. */
  readonly restAt: number;
}

interface Head {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly end: number;
}

/** The methods that llhttp knows. */
const methods =
  /^(?:ACL|BIND|CHECKOUT|CONNECT|COPY|DELETE|GET|HEAD|LINK|LOCK|M-SEARCH|MERGE|MKACTIVITY|MKCALENDAR|MKCOL|MOVE|NOTIFY|OPTIONS|PATCH|POST|PROPFIND|PROPPATCH|PURGE|PUT|QUERY|REBIND|REPORT|SEARCH|SOURCE|SUBSCRIBE|TRACE|UNBIND|UNLINK|UNLOCK|UNSUBSCRIBE)$/;
const requestLine = /^([A-Z-]+) ([^ ]+) HTTP\/(1\.[01])$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)[ \t]*$/;
const onceOnly: ReadonlySet<string> = new Set(
  "host authorization content-type content-length transfer-encoding x-call-id x-callback-url x-call-depth".split(" "),
);
/** What `Connection` may not name (H7). */
const unnameable =
  /^(?:host|authorization|content-type|content-length|transfer-encoding|x-call-id|x-callback-url|x-call-depth|x-call-attempt|x-parent-call-id|weir-.*|x-forwarded-.*|x-function-.*|x-retry.*|x-duration-seconds|x-start-time)$/;
/** Occurs neither in a header's name nor in its value. */
const lineEnd = "\r\n";

/**
 * Counts the requests in `bytes` by the rules of `security.md` §2 and RFC 9112 alone, so that the gateway can be compared
 * with it. Deliberately written independently of the gateway's code.
 */
export function readRequests(bytes: string): ModelReading {
  const requests: ModelRequest[] = [];
  for (let at = 0; ;) {
    if (at >= bytes.length) return { requests, rest: "nothing", restAt: at };
    const head = readHead(bytes, at);
    if (typeof head === "string") return { requests, rest: head, restAt: at };
    const framing = framingOf(head);
    if (framing === "bad-head") return { requests, rest: "bad-head", restAt: at };
    if (isRefused(head)) {
      requests.push({ method: head.method, target: head.target, body: "", refused: true, last: true });
      return { requests, rest: head.end < bytes.length ? "ignored" : "nothing", restAt: head.end };
    }
    const body = framing === "chunked" ? readChunks(bytes, head.end) : readLength(bytes, head.end, framing);
    if (typeof body === "string") return { requests, rest: body, restAt: at };
    const last = isLast(head);
    requests.push({ method: head.method, target: head.target, body: body.text, refused: false, last });
    at = body.end;
    if (last) return { requests, rest: at < bytes.length ? "ignored" : "nothing", restAt: at };
  }
}

function readHead(bytes: string, start: number): Head | "part" | "bad-head" {
  const lines: string[] = [];
  for (let at = start; ;) {
    const end = bytes.indexOf(lineEnd, at);
    const line = bytes.slice(at, end === -1 ? undefined : end);
    // A bare CR or LF is refused as soon as it arrives, and so is an empty line before a request, which RFC 9112 §2.2
    // would have ignored; a CR at the very end may still become a line end.
    if (/[\r\n]/.test(end === -1 ? line.replace(/\r$/, "") : line)) return "bad-head";
    if (end === -1) return couldBegin(line, lines.length) ? "part" : "bad-head";
    if (line === "" && lines.length > 0) return parseHead(lines, end + 2);
    lines.push(line);
    if (lines.length === 1 ? parseRequestLine(line) === undefined : !headerLine.test(line)) return "bad-head";
    at = end + 2;
  }
}

/** Whether more bytes could make `line` valid; doubts count as no, since the connection is closed either way. */
function couldBegin(line: string, linesBefore: number): boolean {
  return linesBefore === 0
    ? /^[A-Z-]*(?: [!-~]*(?: [A-Z/0-9.]*\r?)?)?$/.test(line)
    : /^[\t\x20-\x7e\x80-\xff]*\r?$/.test(line);
}

function parseRequestLine(line: string): readonly [string, string, string] | undefined {
  const [, method = "", target = "", version = ""] = requestLine.exec(line) ?? [];
  return methods.test(method) && /^[\x21-\xff]+$/.test(target) ? [method, target, version] : undefined;
}

function parseHead(lines: readonly string[], end: number): Head | "bad-head" {
  const [first = "", ...rest] = lines;
  const parsed = parseRequestLine(first);
  if (parsed === undefined) return "bad-head";
  const headers = rest.map((line) => {
    const [, name = "", value = ""] = headerLine.exec(line) ?? [];
    return [name.toLowerCase(), value] as const;
  });
  const [method, target, version] = parsed;
  return { method, target, version, headers, end };
}

function valuesOf(head: Head, name: string): string[] {
  return head.headers.filter(([each]) => each === name).map(([, value]) => value);
}

/** How long the body is (H1). */
function framingOf(head: Head): number | "chunked" | "bad-head" {
  const lengths = valuesOf(head, "content-length");
  const codings = valuesOf(head, "transfer-encoding");
  if (lengths.length + codings.length > 1) return "bad-head";
  const [length] = lengths;
  if (length !== undefined) {
    return /^\d+$/.test(length) && Number.isSafeInteger(Number(length)) ? Number(length) : "bad-head";
  }
  const [coding] = codings;
  if (coding === undefined) return 0;
  return coding.toLowerCase() === "chunked" && head.version === "1.1" ? "chunked" : "bad-head";
}

/** Whether a well-formed head breaks a rule that ends its connection. */
function isRefused(head: Head): boolean {
  const names = head.headers.map(([name]) => name);
  const options = connectionOptions(head);
  const expect = valuesOf(head, "expect");
  return (
    names.length > 100 ||
    head.method === "CONNECT" ||
    head.method === "TRACE" ||
    !/^\/[!"$-~]*$/.test(head.target) ||
    valuesOf(head, "host").length !== 1 ||
    names.some((name, index) => onceOnly.has(name) && names.indexOf(name) !== index) ||
    options.some((option) => unnameable.test(option.replaceAll("_", "-"))) ||
    expect.some((value) => value.toLowerCase() !== "100-continue")
  );
}

/** Whether the connection ends with this request: the client requests that, or an upgrade that is not accepted. */
function isLast(head: Head): boolean {
  const options = connectionOptions(head);
  const isOld = head.version === "1.0" && !options.includes("keep-alive");
  return options.includes("close") || isOld || valuesOf(head, "upgrade").length > 0;
}

function connectionOptions(head: Head): string[] {
  return valuesOf(head, "connection").flatMap((value) => value.split(",").map((option) => option.trim().toLowerCase()));
}

interface Body {
  readonly text: string;
  readonly end: number;
}

function readLength(bytes: string, start: number, length: number): Body | "part" {
  const end = start + length;
  return end > bytes.length ? "part" : { text: bytes.slice(start, end), end };
}

function readChunks(bytes: string, start: number): Body | "part" | "bad-body" | "unsure" {
  let text = "";
  for (let at = start; ;) {
    const lineAt = bytes.indexOf(lineEnd, at);
    if (lineAt === -1) return "unsure";
    const line = bytes.slice(at, lineAt);
    const [, digits, extension = ""] = /^([0-9a-fA-F]+)(;[^]*)?$/.exec(line) ?? [];
    if (digits === undefined) return "bad-body";
    if (extension !== "" && !/^(?:;[a-z]+=[a-z0-9]+)+$/.test(extension)) return "unsure";
    const size = Number.parseInt(digits, 16);
    // The parser accepts sizes up to 2^64 and waits for the bytes.
    if (!Number.isSafeInteger(size)) return "unsure";
    at = lineAt + 2;
    if (size === 0) return readTrailers(bytes, at, text);
    if (at + size + 2 > bytes.length) return "unsure";
    if (bytes.slice(at + size, at + size + 2) !== lineEnd) return "bad-body";
    text += bytes.slice(at, at + size);
    at += size + 2;
  }
}

function readTrailers(bytes: string, start: number, text: string): Body | "part" | "bad-body" | "unsure" {
  for (let at = start; ;) {
    const end = bytes.indexOf(lineEnd, at);
    if (end === -1) return "unsure";
    const line = bytes.slice(at, end);
    at = end + 2;
    if (line === "") return { text, end: at };
    const [, name] = headerLine.exec(line) ?? [];
    if (name === undefined) return "bad-body";
    // Node evaluates some of them although they are trailers.
    if (/^(?:content-length|transfer-encoding|connection|upgrade)$/i.test(name)) return "unsure";
  }
}
