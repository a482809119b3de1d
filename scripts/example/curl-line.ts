/** A request as `curl` sends it. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly text: string } | { readonly file: string } | undefined;
  /** The data directory whose credentials are sent. */
  readonly credentialsOf?: string;
}

/** Content-Type of server-sent events. */
export const eventStream = "text/event-stream";

/** The request as a command that can be pasted into a shell; the password is read by the command, not shown. */
export function curlLine(request: ShownRequest): string {
  const { body, credentialsOf, method } = request;
  const implied = body === undefined ? "GET" : "POST";
  const parts = [
    "curl",
    ...(request.headers["Accept"] === eventStream ? ["-N"] : []),
    ...(credentialsOf === undefined ? [] : ["-u", credentials(credentialsOf)]),
    ...(method === implied ? [] : ["-X", method]),
    quoted(request.url),
    ...Object.entries(request.headers).flatMap(([name, value]) => ["-H", quoted(`${name}: ${value}`)]),
    ...(body === undefined
      ? []
      : "text" in body
        ? ["-d", quoted(body.text)]
        : ["--data-binary", quoted(`@${body.file}`)]),
  ];
  return parts.join(" ");
}

function credentials(dataDirectory: string): string {
  const file = (name: string) => `$(cat ${quoted(`${dataDirectory}/credentials/${name}`)})`;
  return `"${file("basic-auth-user")}:${file("basic-auth-password")}"`;
}

/** One word of a POSIX shell, quoted only if necessary. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
